import assert from "node:assert/strict";
import { test } from "node:test";
import type { DoFnDefinition, Outputs } from "../../beam/dofn.ts";
import { type DofnRegistry, dofnRegistry } from "../../beam/registry.ts";
import { sink, word } from "./lib.ts";

const one = sink("one", word, () => undefined);
const two = sink("two", word, () => undefined);

test("a DoFn is found by its name", () => {
  assert.equal(dofnRegistry([one, two]).find({ name: "two", form: "each" }), two);
});

test("an unknown name is an error that names the known ones", () => {
  assert.throws(() => dofnRegistry([one, two]).find({ name: "three", form: "each" }), /'three'; known are one, two/);
});

test("a name of another form is an error", () => {
  assert.throws(() => dofnRegistry([one]).find({ name: "one", form: "source" }), /'one' is of the form each, not source/);
});

test("two DoFns of one name are an error, one listed twice is not", () => {
  assert.throws(() => dofnRegistry([one, sink("one", word, () => undefined)]), /two DoFns are registered as 'one'/);
  assert.ok(dofnRegistry([one, one]));
});

test("whoever runs them has to have the services of all of them", () => {
  const needing = <S>(name: string) => ({ ...one, name }) as unknown as DoFnDefinition<{ word: string }, Outputs, object, S>;
  const registry: DofnRegistry<{ a: number; b: string }> = dofnRegistry([
    needing<{ a: number }>("a"),
    needing<{ b: string }>("b"),
    one,
  ]);
  // @ts-expect-error b is missing
  const less: DofnRegistry<{ a: number }> = registry;
  assert.equal(less, registry);
});
