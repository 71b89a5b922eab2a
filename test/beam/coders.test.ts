import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { suite, test } from "node:test";
import fc from "fast-check";
import { collectionCoder, fromWire, isKeyed, keyed, toWire } from "../../beam/coders.ts";
import { CodecError, decode, encode, list, optional, struct, text, uint } from "../../schemas/codec.ts";

const record = struct({ name: text, sizes: list(uint), note: optional(text) });
const records = fc.record(
  { name: fc.string({ unit: "grapheme" }), sizes: fc.array(fc.nat()), note: fc.string() },
  { requiredKeys: ["name", "sizes"], noNullPrototype: true },
);
const keyedRecords = fc.record({ key: fc.string({ unit: "grapheme" }), value: records }, { noNullPrototype: true });

const sdk = createRequire(import.meta.url);
const { Writer, Reader } = sdk("protobufjs");
const { Context } = sdk("apache-beam/coders/coders");

/** What an SDK harness or runner does with an element between two others. */
function throughBeam(codec: Parameters<typeof collectionCoder>[0], value: unknown): unknown {
  const coder = collectionCoder(codec);
  const writer = Writer.create();
  for (let copy = 0; copy < 2; copy++) coder.encode(toWire(codec, value) as never, writer, Context.needsDelimiters);
  const reader = Reader.create(writer.finish());
  coder.decode(reader, Context.needsDelimiters);
  return fromWire(codec, coder.decode(reader, Context.needsDelimiters) as never);
}

suite("an element in Beam's coders", () => {
  test("comes back as it was, keyed and not, one after another in a stream", () => {
    fc.assert(fc.property(records, (value) => assert.deepEqual(throughBeam(record, value), value)));
    fc.assert(fc.property(keyedRecords, (value) => assert.deepEqual(throughBeam(keyed(record), value), value)));
  });

  test("of another codec is an error, not another value", () => {
    assert.throws(() => fromWire(record, new Uint8Array([9, 9])), CodecError);
  });
});

suite("a keyed codec", () => {
  const codec = keyed(record);

  test("is a codec like others: what it writes it reads", () => {
    fc.assert(fc.property(keyedRecords, (value) => assert.deepEqual(decode(codec, encode(codec, value)), value)));
    assert.deepEqual([isKeyed(codec), isKeyed(record)], [true, false]);
  });

  const faults: [value: unknown, fault: string | undefined][] = [
    [{ key: "a", value: { name: "n", sizes: [] } }, undefined],
    [{ key: 1, value: { name: "n", sizes: [] } }, "element.key: not a text"],
    [{ key: "a", value: { name: "n", sizes: [-1] } }, "element.value.sizes[0]: not a uint"],
    [null, "element: not a keyed element"],
  ];
  for (const [value, fault] of faults)
    test(`finds ${fault ?? "no fault"} in ${JSON.stringify(value)}`, () => assert.equal(codec.fault(value, "element"), fault));
});
