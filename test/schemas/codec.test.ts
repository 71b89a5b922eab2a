import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  bool,
  bytes,
  CodecError,
  decode,
  encode,
  list,
  oneOf,
  optional,
  struct,
  text,
  uint,
  union,
} from "../../schemas/codec.ts";

const everything = struct({
  name: text,
  count: uint,
  open: bool,
  body: bytes,
  word: oneOf(["one", "two", "three"]),
  many: list(struct({ at: uint, note: optional(text) })),
  said: union({ yes: struct({ how: uint }), no: struct({}) }),
  first: optional(uint),
  second: optional(list(text)),
});

const wholes = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(0, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER));
const texts = fc.string({ unit: "grapheme" });
const values = fc
  .record(
    {
      name: texts,
      count: wholes,
      open: fc.boolean(),
      body: fc.uint8Array({ maxLength: 600 }),
      word: fc.constantFrom("one" as const, "two" as const, "three" as const),
      many: fc.array(fc.record({ at: wholes, note: texts }, { requiredKeys: ["at"] }), { maxLength: 5 }),
      said: fc.oneof(fc.record({ kind: fc.constant("yes" as const), how: wholes }), fc.constant({ kind: "no" as const })),
      first: wholes,
      second: fc.array(texts, { maxLength: 3 }),
    },
    { requiredKeys: ["name", "count", "open", "body", "word", "many", "said"] },
  )
  .map((value) => ({ ...structuredClone(value), body: value.body }));

test("every value comes back from its bytes, and is none of a fault", () => {
  fc.assert(
    fc.property(values, (value) => {
      assert.equal(everything.fault(value, ""), undefined);
      assert.deepEqual(decode(everything, encode(everything, value)), value);
    }),
  );
});

test("bytes that are cut short, or go on, are no record", () => {
  const whole = encode(everything, fc.sample(values, { numRuns: 1, seed: 5 })[0]!);
  for (let end = 0; end < whole.length; end++) assert.throws(() => decode(everything, whole.subarray(0, end)), CodecError);
  assert.throws(() => decode(everything, Buffer.concat([whole, Buffer.of(0)])), CodecError);
});

test("whatever the bytes, reading ends in a value or a CodecError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (given) => {
      try {
        decode(everything, Buffer.concat([Buffer.of(1), given]));
      } catch (error) {
        assert.ok(error instanceof CodecError);
      }
    }),
  );
});

test("a record of another version is not guessed at", () => {
  const written = encode(uint, 5, 2);
  assert.throws(() => decode(uint, written), /version 2; this program reads version 1/);
  assert.equal(decode(uint, written, 2), 5);
});

test("small numbers are small: a byte for 7 bits, six for the time", () => {
  assert.deepEqual([...encode(uint, 127)], [1, 127]);
  assert.deepEqual([...encode(uint, 128)], [1, 0x80, 1]);
  assert.equal(encode(uint, 1_900_000_000_000).length, 7);
  assert.equal(encode(uint, Number.MAX_SAFE_INTEGER).length, 9);
});

test("a number that goes on for ever is none", () => {
  assert.throws(() => decode(uint, Buffer.of(1, ...Array(12).fill(0x80), 1)), CodecError);
});

test("a field that is added later, optional and last, is absent in older records", () => {
  const older = struct({ a: uint, b: optional(uint) });
  const newer = struct({ a: uint, b: optional(uint), c: optional(text) });
  for (const value of [{ a: 1 }, { a: 1, b: 2 }]) assert.deepEqual(decode(newer, encode(older, value)), value);
});

test("a word is its place in the list; a place beyond it is a fault, and so is a word that is none", () => {
  const word = oneOf(["one", "two"]);
  assert.deepEqual([...encode(word, "two")], [1, 1]);
  assert.throws(() => decode(word, Buffer.of(1, 2)), CodecError);
  assert.throws(() => encode(word, "three" as "two"), CodecError);
});

test("text is UTF-8, whatever its script", () => {
  for (const value of ["", "a", "\u00fc", "\u6f22", "\u{1f600}", "\u0000"])
    assert.equal(decode(text, encode(text, value)), value);
});

test("bytes read are one's own", () => {
  const written = encode(bytes, Uint8Array.of(1, 2, 3));
  const read = decode(bytes, written);
  written.fill(9);
  assert.deepEqual([...read], [1, 2, 3]);
});

const faults: [value: unknown, fault: string][] = [
  [undefined, ": not a record"],
  [{}, "name: not a text"],
  [{ name: 1 }, "name: not a text"],
  [good({ count: -1 }), "count: not a uint"],
  [good({ count: 1.5 }), "count: not a uint"],
  [good({ count: 2 ** 53 }), "count: not a uint"],
  [good({ open: 1 }), "open: not a bool"],
  [good({ body: [1] }), "body: not a bytes"],
  [good({ word: "four" }), "word: none of one, two, three"],
  [good({ many: {} }), "many: not a list"],
  [good({ many: [{ at: 1 }, { at: "x" }] }), "many[1].at: not a uint"],
  [good({ said: { kind: "perhaps" } }), "said.kind: none of yes, no"],
  [good({ said: { kind: "yes" } }), "said.how: not a uint"],
  [good({ said: null }), "said.kind: none of yes, no"],
  [good({ second: [1] }), "second[0]: not a text"],
];
for (const [value, fault] of faults)
  test(`a guard says where it is wrong: ${fault}`, () => {
    assert.equal(everything.fault(value, ""), fault);
  });

function good(change: object): object {
  return {
    name: "",
    count: 0,
    open: true,
    body: new Uint8Array(),
    word: "one",
    many: [],
    said: { kind: "no" },
    ...change,
  };
}

test("a shape tells what a column would be", () => {
  assert.deepEqual(struct({ a: uint, b: optional(list(text)) }).shape, {
    kind: "struct",
    fields: { a: { kind: "uint" }, b: { kind: "optional", of: { kind: "list", of: { kind: "text" } } } },
  });
});
