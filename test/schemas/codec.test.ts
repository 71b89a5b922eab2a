import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  bool,
  bytes,
  CodecError,
  decode,
  encode,
  fixed,
  list,
  oneOf,
  optional,
  struct,
  text,
  uint,
  union,
  usually,
  versioned,
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
  const second = versioned(uint, 2);
  const written = encode(second, 5);
  assert.throws(() => decode(uint, written), /version 2; this program reads version 1/);
  assert.equal(decode(second, written), 5);
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

test("a field that is as usual takes its bit alone; one that is not comes back as it was", () => {
  const record = struct({
    at: uint,
    kind: usually(oneOf(["page", "sitemap"]), "page"),
    seen: usually(uint, ({ at }) => at),
    open: usually(optional(bool), true),
  });
  assert.equal(encode(record, { at: 5, kind: "page", seen: 5, open: true }).length, 3);
  for (const kind of ["page", "sitemap"] as const)
    for (const seen of [5, 6])
      for (const open of [{}, { open: true }, { open: false }]) {
        const value = { at: 5, kind, seen, ...open };
        assert.deepEqual(decode(record, encode(record, value)), value);
      }
});

test("what is rare and stands last makes the mask no longer while it is absent", () => {
  const names = Array.from({ length: 20 }, (_, index) => `f${index}`);
  const record = struct(Object.fromEntries(names.map((name) => [name, optional(uint)])));
  assert.equal(encode(record, { f0: 1 } as object).length, 3);
  assert.equal(encode(record, { f19: 1 } as object).length, 5);
});

test("a mask with bits of fields that are not known is no record of ours", () => {
  const newer = struct({ a: optional(uint), b: optional(uint) });
  const older = struct({ a: optional(uint) });
  assert.throws(() => decode(older, encode(newer, { b: 1 })), /does not know/);
});

test("more mask bits than a whole number has are refused where the struct is declared, and so is a name that is none", () => {
  const fields = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`f${index}`, optional(uint)]));
  assert.throws(() => struct(fields), /30 mask bits/);
  assert.throws(() => struct({ "a; b": uint }), /no name for a field/);
});

test("bytes of a fixed size take no length, and no others are written", () => {
  const hash = fixed(3);
  assert.deepEqual([...encode(hash, Uint8Array.of(7, 8, 9))], [1, 7, 8, 9]);
  assert.throws(() => encode(hash, Uint8Array.of(7, 8)), CodecError);
  assert.equal(hash.fault(Uint8Array.of(7, 8), "h"), "h: 2 bytes, not 3");
  assert.equal(hash.fault([7, 8, 9], "h"), "h: not a bytes");
});

test("a value that cannot be written leaves the next one whole", () => {
  assert.throws(() => encode(everything, good({ word: "four" }) as never), CodecError);
  assert.throws(() => encode(uint, -1), CodecError);
  assert.throws(() => encode(uint, Number.NaN), CodecError);
  assert.throws(() => decode(text, Buffer.of(1, 9, 65)), CodecError);
  assert.equal(decode(text, encode(text, "whole")), "whole");
});

test("a codec that encodes while it is written and decodes while it is read disturbs nothing", () => {
  const boxed = {
    ...text,
    write: (...[writer, value]: Parameters<typeof text.write>) => writer.bytes(encode(text, `in ${value}`)),
    read: (...[reader]: Parameters<typeof text.read>) => decode(text, reader.bytes()),
  };
  const pair = struct({ first: text, boxed, last: text });
  const value = { first: "a", boxed: "b", last: "c" };
  assert.deepEqual(decode(pair, encode(pair, value)), { ...value, boxed: "in b" });
});

test("records that were written earlier stay as they were", () => {
  const written = Array.from({ length: 50 }, (_, index) => encode(list(text), Array(index).fill(`text ${index}`)));
  for (const [index, each] of written.entries()) assert.deepEqual(decode(list(text), each), Array(index).fill(`text ${index}`));
});

test("texts and bytes of every length come back, beyond every buffer", () => {
  const pair = struct({ body: bytes, name: text, wide: text });
  for (const size of [0, 1, 40, 41, 127, 128, 4_000, 4_096, 9_000, 1_100_000]) {
    const value = { body: new Uint8Array(size).fill(200), name: "x".repeat(size), wide: "\u00fc".repeat(size) };
    assert.deepEqual(decode(pair, encode(pair, value)), value);
  }
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
