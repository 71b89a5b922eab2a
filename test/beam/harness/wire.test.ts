import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { suite, test } from "node:test";
import fc from "fast-check";
import {
  decodeElements,
  decodeStateResponse,
  encodeElements,
  encodeStateRequest,
  type Frame,
} from "../../../beam/harness/messages.ts";
import { headerAt, readHeader, timeOf } from "../../../beam/harness/windowed.ts";
import { WireError, WireReader, WireWriter } from "../../../beam/harness/wire-bytes.ts";
import { type WireCoder, wireCoder } from "../../../beam/harness/wire-coders.ts";
import "../../../beam/sdk.ts";

// biome-ignore lint/suspicious/noExplicitAny: the SDK's coders are typed for its own values
type Any = any;

const require = createRequire(import.meta.url);
// What the SDK itself depends on.
const ofSdk = createRequire(require.resolve("apache-beam/pvalue"));
const protobuf: Any = ofSdk("protobufjs");
const Long: Any = ofSdk("long");
const { Context }: typeof import("apache-beam/coders/coders") = require("apache-beam/coders/coders");
const sdk: typeof import("apache-beam/coders/required_coders") = require("apache-beam/coders/required_coders");
const standard: typeof import("apache-beam/coders/standard_coders") = require("apache-beam/coders/standard_coders");
const fnApi: typeof import("apache-beam/proto/beam_fn_api") = require("apache-beam/proto/beam_fn_api");

const spec = (urn: string, ...componentCoderIds: string[]) => ({
  spec: { urn: `beam:coder:${urn}:v1`, payload: new Uint8Array() },
  componentCoderIds,
});
const coders = {
  bytes: spec("bytes"),
  text: spec("string_utf8"),
  double: spec("double"),
  varint: spec("varint"),
  pair: spec("kv", "text", "bytes"),
  sized: spec("kv", "pair", "double"),
  many: spec("iterable", "pair"),
  prefixed: spec("length_prefix", "pair"),
  prefixedText: spec("length_prefix", "text"),
  circle: spec("kv", "text", "circle"),
  short: spec("kv", "text"),
  odd: spec("row"),
};
const sdkPair = new sdk.KVCoder(new standard.StrUtf8Coder(), new sdk.BytesCoder());
const sdkCoders: Record<string, Any> = {
  bytes: new sdk.BytesCoder(),
  text: new standard.StrUtf8Coder(),
  double: new standard.DoubleCoder(),
  pair: sdkPair,
  sized: new sdk.KVCoder(sdkPair as Any, new standard.DoubleCoder()),
  many: new sdk.IterableCoder(sdkPair as Any),
  prefixed: new sdk.LengthPrefixedCoder(sdkPair as Any),
  prefixedText: new sdk.LengthPrefixedCoder(new standard.StrUtf8Coder() as Any),
};

const aText = fc.string({ unit: "binary" }).filter((given) => !given.startsWith("\ufeff")); // the SDK's reader drops a byte order mark
const someBytes = fc.uint8Array({ maxLength: 300 });
const aPair = fc.record({ key: aText, value: someBytes });
const values: Record<string, fc.Arbitrary<unknown>> = {
  bytes: someBytes,
  text: aText,
  double: fc.double({ noNaN: true }),
  pair: aPair,
  sized: fc.record({ key: aPair, value: fc.double({ noNaN: true }) }),
  many: fc.array(aPair, { maxLength: 5 }),
  prefixed: aPair,
  prefixedText: aText,
};

const plainly = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_name, one) =>
      one instanceof Uint8Array || one?.type === "Buffer"
        ? Buffer.from(one.data ?? one).toString("hex")
        : Object.is(one, -0)
          ? "-0"
          : one,
    ),
  );

suite("a coder of the wire", () => {
  for (const [id, value] of Object.entries(values))
    test(`${id} writes what the SDK's reads, and reads what the SDK's writes`, () => {
      const coder: WireCoder = wireCoder(coders, id);
      fc.assert(
        fc.property(value, (given) => {
          const writer = new WireWriter();
          coder.write(writer, given);
          const ours = writer.take();
          const theirs = new protobuf.Writer();
          sdkCoders[id].encode(given, theirs, Context.needsDelimiters);
          assert.equal(ours.toString("hex"), Buffer.from(theirs.finish()).toString("hex"));
          const reader = new WireReader(ours);
          assert.deepEqual(plainly(coder.read(reader)), plainly(given));
          assert.equal(reader.left, 0);
        }),
        { numRuns: 200 },
      );
    });

  test("reads an iterable of unknown length in its blocks", () => {
    const writer = new WireWriter();
    writer.word(2 ** 32 - 1);
    const pair = wireCoder(coders, "pair");
    for (const block of [["a", "b"], ["c"], []]) {
      writer.uint(block.length);
      for (const key of block) pair.write(writer, { key, value: Buffer.of(1) });
    }
    const read = wireCoder(coders, "many").read(new WireReader(writer.take())) as { key: string }[];
    assert.deepEqual(
      read.map(({ key }) => key),
      ["a", "b", "c"],
    );
  });

  test("carries whole numbers of both signs", () => {
    const varint = wireCoder(coders, "varint");
    for (const number of [0n, 1n, -1n, 127n, 128n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      const writer = new WireWriter();
      varint.write(writer, number);
      assert.equal(varint.read(new WireReader(writer.take())), number);
    }
  });

  test("that is none, unknown, made of too few or of itself is refused", () => {
    for (const [id, why] of [
      ["missing", /no coder/],
      ["odd", /does not know: beam:coder:row:v1/],
      ["short", /has 1 components/],
      ["circle", /made of itself/],
    ] as const)
      assert.throws(() => wireCoder(coders, id), why);
  });

  test("throws WireError or reads something of whatever bytes, and takes no time for what they promise", () => {
    const all = Object.keys(values).map((id) => wireCoder(coders, id));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(all.length - 1), (bytes, which) => {
        try {
          all[which]!.read(new WireReader(bytes));
        } catch (error) {
          assert.ok(error instanceof WireError, String(error));
        }
      }),
      { numRuns: 2000 },
    );
    assert.throws(() => wireCoder(coders, "many").read(new WireReader(Buffer.of(0x7f, 0xff, 0xff, 0xff, 0))), WireError);
  });
});

suite("a header", () => {
  test("says its time as the SDK's does, at all times", () => {
    const windowed = new sdk.FullWindowedValueCoder(new sdk.BytesCoder() as Any, sdk.GlobalWindowCoder.INSTANCE as Any) as Any;
    fc.assert(
      fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (at) => {
        const header = headerAt(at);
        assert.equal(timeOf(header), at);
        const { timestamp, pane } = windowed.decode(
          new protobuf.Reader(Buffer.concat([header, Buffer.of(0)])),
          Context.needsDelimiters,
        );
        assert.equal(timestamp.toNumber(), at);
        assert.deepEqual([pane.isFirst, pane.isLast, pane.index], [true, true, 0]);
      }),
    );
  });

  test("with any pane is taken as a whole; in two windows, or cut short, it is none", () => {
    const writer: Any = new protobuf.Writer();
    const pane = {
      isFirst: false,
      isLast: false,
      index: 300,
      onTimeIndex: 299,
      timing: sdk.PaneInfoCoder.ONE_AND_ONLY_FIRING.timing,
    };
    sdk.InstantCoder.INSTANCE.encode(Long.fromNumber(1), writer, Context.needsDelimiters);
    writer.fixed32(0x01000000);
    sdk.PaneInfoCoder.INSTANCE.encode(pane as Any, writer, Context.needsDelimiters);
    const bytes = Buffer.concat([writer.finish(), Buffer.of(7)]);
    const reader = new WireReader(bytes);
    assert.equal(readHeader(reader).length, bytes.length - 1);
    assert.equal(reader.byte(), 7);
    const two = Buffer.from(headerAt(0));
    two[11] = 2;
    assert.throws(() => readHeader(new WireReader(two)), WireError);
    assert.throws(() => readHeader(new WireReader(bytes.subarray(0, 12))), WireError);
  });
});

suite("a message by hand", () => {
  const aFrame = fc.record({
    instruction: aText,
    transform: aText,
    family: fc.option(aText, { nil: undefined }),
    bytes: someBytes,
    last: fc.boolean(),
  });

  test("of elements is what protobuf makes of it, there and back", () => {
    fc.assert(
      fc.property(fc.array(aFrame, { maxLength: 4 }), (frames: Frame[]) => {
        const read = fnApi.Elements.fromBinary(encodeElements(frames));
        const data = frames.filter(({ family }) => family === undefined);
        const timers = frames.filter(({ family }) => family !== undefined);
        assert.deepEqual(
          plainly(read.data),
          plainly(data.map((f) => ({ instructionId: f.instruction, transformId: f.transform, data: f.bytes, isLast: f.last }))),
        );
        assert.deepEqual(
          plainly(read.timers),
          plainly(
            timers.map((f) => ({
              instructionId: f.instruction,
              transformId: f.transform,
              timerFamilyId: f.family,
              timers: f.bytes,
              isLast: f.last,
            })),
          ),
        );
        assert.deepEqual(plainly(decodeElements(fnApi.Elements.toBinary(read))), plainly([...data, ...timers]));
      }),
    );
  });

  test("of state is what protobuf makes of it", () => {
    const kind = fc.constantFrom("get" as const, "append" as const, "clear" as const);
    fc.assert(
      fc.property(
        fc.record({ id: aText, instruction: aText, transform: aText, cell: aText, key: someBytes, bytes: someBytes }),
        kind,
        (given, what) => {
          const { id, instruction, transform, cell, key, bytes } = given;
          const read = fnApi.StateRequest.fromBinary(
            encodeStateRequest({ id, instruction, key: { transform, cell, key }, kind: what, bytes }),
          );
          assert.deepEqual([read.id, read.instructionId, read.request.oneofKind], [id, instruction, what]);
          assert.ok(read.stateKey?.type.oneofKind === "bagUserState");
          const bag = read.stateKey.type.bagUserState;
          assert.deepEqual(plainly(bag), plainly({ transformId: transform, userStateId: cell, window: new Uint8Array(), key }));
          if (read.request.oneofKind === "append") assert.deepEqual(plainly(read.request.append.data), plainly(bytes));
          if (read.request.oneofKind === "get") assert.deepEqual(plainly(read.request.get.continuationToken), plainly(bytes));
          const answer = {
            id,
            error: instruction,
            response: { oneofKind: "get" as const, get: { data: bytes, continuationToken: key } },
          };
          assert.deepEqual(
            plainly(decodeStateResponse(fnApi.StateResponse.toBinary(answer))),
            plainly({ id, error: instruction, data: bytes, continuation: key }),
          );
        },
      ),
    );
  });

  test("of whatever bytes is refused with WireError or read", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        for (const read of [decodeElements, decodeStateResponse])
          try {
            read(bytes);
          } catch (error) {
            assert.ok(error instanceof WireError, String(error));
          }
      }),
      { numRuns: 2000 },
    );
  });
});
