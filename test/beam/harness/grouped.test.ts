import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { keyed } from "../../../beam/coders.ts";
import type { GroupedDefinition } from "../../../beam/dofn.ts";
import { headerAt } from "../../../beam/harness/windowed.ts";
import { WireWriter } from "../../../beam/harness/wire-bytes.ts";
import { buildBatch } from "../../../beam/pipeline.ts";
import { encode } from "../../../schemas/codec.ts";
import { adding, count, given } from "../batch/lib.ts";
import { type Word, word } from "../lib.ts";
import type { FakeOptions } from "./fake-runner.ts";
import { AT, readKeyed, readPairs, stageIn, startAtFake } from "./lib.ts";

const keyedWord = keyed(word);
const read = given("read", keyedWord, () => []);
type Grouped = GroupedDefinition<Word, { out: typeof keyedWord }, object, unknown>;

/** Tells each group's values, in one word. */
const joining: Grouped = {
  ...{ form: "grouped", name: "joining", input: word, outputs: { out: keyedWord } },
  make: () => ({
    async process(key, values, context) {
      const all: string[] = [];
      for await (const value of values) all.push(value.word);
      context.emit("out", { key, value: { word: all.length > 10 ? `${all.length} ${all.at(-1)}` : all.join(",") } });
    },
  }),
};

async function startGrouped(t: TestContext, definition = joining, fake: FakeOptions = {}) {
  const started = await startAtFake(t, [definition], { fake });
  const proto = buildBatch((p) => void p.grouped("Only", definition, {}, p.start("Read", read, {}).out));
  const stage = stageIn(proto, { only: ["Only"], endpoint: started.runner.endpoint });
  for (const coder of Object.values(stage.coders))
    if (coder.spec?.urn === "beam:coder:iterable:v1") coder.spec.urn = "beam:coder:state_backed_iterable:v1";
  started.runner.register(stage);
  return started;
}

interface Groups {
  /** Values with their count before them, or in blocks. */
  blocks: readonly string[][];
  inBlocks?: boolean;
  /** Of what the runner keeps. */
  token?: string;
}

function groupBytes(...groups: [key: string, Groups][]): Buffer {
  const writer = new WireWriter();
  for (const [key, { blocks, inBlocks = true, token }] of groups) {
    writer.raw(headerAt(AT));
    writer.text(key);
    writer.word(inBlocks ? 2 ** 32 - 1 : blocks[0]!.length);
    for (const block of blocks) {
      if (inBlocks) writer.uint(block.length);
      writer.raw(valueBytes(...block));
    }
    if (token !== undefined) writer.int64(-1n);
    if (token !== undefined) writer.text(token);
    else if (inBlocks) writer.uint(0);
  }
  return writer.take();
}

function valueBytes(...words: string[]): Buffer {
  const writer = new WireWriter();
  for (const one of words) writer.bytes(encode(word, { word: one }));
  return writer.take();
}

const numbered = (size: number) => Array.from({ length: size }, (_, n) => `${n}`);
const said = (bytes: Buffer | undefined) => readKeyed(bytes).map(({ value }) => `${value.key}: ${value.value}`);

suite("a group", () => {
  test("comes whole, counted or in blocks, and keeps its time", async (t) => {
    const { runner } = await startGrouped(t);
    const bytes = groupBytes(
      ["a", { blocks: [["1", "2"]], inBlocks: false }],
      ["b", { blocks: [["3"], ["4", "5"]] }],
      ["c", { blocks: [[]], inBlocks: false }],
      ["", { blocks: [["6"]] }],
    );
    const { error, data } = await runner.bundle({ descriptor: "stage", data: { in: [bytes] } });
    assert.equal(error, "");
    assert.deepEqual(said(data["out:Only.out"]).sort(), [": 6", "a: 1,2", "b: 3,4,5", "c: "]);
    assert.ok(readKeyed(data["out:Only.out"]).every(({ at }) => at === AT));
  });

  test("may be long, and go over many frames", async (t) => {
    const { runner } = await startGrouped(t);
    const bytes = groupBytes(
      ["long", { blocks: [numbered(30_000)], inBlocks: false }],
      ["blocks", { blocks: [numbered(900), numbered(900), ["end"]] }],
      ["small", { blocks: [["1"]] }],
    );
    const frames = Array.from({ length: Math.ceil(bytes.length / 20_000) }, (_, n) =>
      bytes.subarray(n * 20_000, (n + 1) * 20_000),
    );
    const { error, data } = await runner.bundle({ descriptor: "stage", data: { in: frames } });
    assert.equal(error, "");
    assert.deepEqual(said(data["out:Only.out"]).sort(), ["blocks: 1801 end", "long: 30000 29999", "small: 1"]);
  });

  test("of which the runner keeps a part is fetched page by page, also where a page ends within a value", async (t) => {
    const { runner } = await startGrouped(t, joining, { stateChunk: 7 });
    runner.state.set("kept/rest of a", valueBytes("3", "a longer value", "5"));
    runner.state.set("kept/rest of b", valueBytes(...numbered(40)));
    const bytes = groupBytes(["a", { blocks: [["1", "2"]], token: "rest of a" }], ["b", { blocks: [], token: "rest of b" }]);
    const { error, data } = await runner.bundle({ descriptor: "stage", data: { in: [bytes] } });
    assert.equal(error, "");
    assert.deepEqual(said(data["out:Only.out"]).sort(), ["a: 1,2,3,a longer value,5", "b: 40 39"]);
  });

  test("is not fetched further than the DoFn reads", async (t) => {
    const first: Grouped = {
      ...joining,
      make: () => ({
        async process(key, values, context) {
          for await (const value of values) {
            context.emit("out", { key, value });
            break;
          }
        },
      }),
    };
    const { runner } = await startGrouped(t, first, { stateChunk: 10 });
    runner.state.set("kept/rest", valueBytes(...numbered(1000)));
    const { error, data } = await runner.bundle({
      descriptor: "stage",
      data: { in: [groupBytes(["a", { blocks: [], token: "rest" }])] },
    });
    assert.equal(error, "");
    assert.deepEqual(said(data["out:Only.out"]), ["a: 0"]);
    assert.equal(runner.asked.length, 1);
  });

  test("whose rest the runner refuses fails the bundle", async (t) => {
    const { runner } = await startGrouped(t);
    const bytes = groupBytes(["a", { blocks: [], token: "unknown" }]);
    const { error } = await runner.bundle({ descriptor: "stage", data: { in: [bytes] } });
    assert.match(error, /Only: the runner refused a state request: nothing is kept there/);
  });

  test("that claims more values than it has fails the bundle", async (t) => {
    const { runner } = await startGrouped(t);
    const writer = new WireWriter();
    writer.raw(headerAt(AT));
    writer.text("a");
    writer.word(2 ** 31);
    const { error } = await runner.bundle({ descriptor: "stage", data: { in: [writer.take()] } });
    assert.match(error, /end within one/);
  });
});

test("what is combined comes in part before the grouping, at the end of the bundle, and whole behind it", async (t) => {
  const { runner } = await startAtFake(t, [adding]);
  const numbers = given("numbers", keyed(count), () => []);
  const proto = buildBatch((p) => void p.combined("Add", adding, p.start("Read", numbers, {}).out));
  const value = (n: number) => encode(count, { n });
  const writer = new WireWriter();
  for (const [key, n] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
  ] as const) {
    writer.raw(headerAt(AT));
    writer.text(key);
    writer.bytes(value(n));
  }
  runner.register(stageIn(proto, { only: ["Add.Partial"], endpoint: runner.endpoint, id: "partial" }));
  const partial = await runner.bundle({ descriptor: "partial", data: { in: [writer.take()] } });
  assert.equal(partial.error, "");
  assert.deepEqual(readSums(partial.data["out:Add.Partial.combined"]), ["a 4", "b 2"]);

  writer.raw(headerAt(AT));
  writer.text("a");
  writer.word(2);
  writer.bytes(value(4));
  writer.bytes(value(5));
  runner.register(stageIn(proto, { only: ["Add"], endpoint: runner.endpoint, id: "whole" }));
  const whole = await runner.bundle({ descriptor: "whole", data: { in: [writer.take()] } });
  assert.equal(whole.error, "");
  assert.deepEqual(readSums(whole.data["out:Add.combined"]), ["a 9"]);
});

function readSums(bytes: Buffer | undefined): string[] {
  return readPairs(bytes, count).map(({ value: { key, value } }) => `${key} ${value.n}`);
}
