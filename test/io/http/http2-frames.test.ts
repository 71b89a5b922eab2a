// Frames are found however their bytes come, and what comes before a refused one may go on.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Frame, frameReader } from "../../../io/http/http2-frames.ts";
import { http2Misfits } from "../../../io/http/http2-misfits.ts";
import { frame } from "./http2-fixtures.ts";

type Told = Omit<Frame, "lead"> & { lead: string };

const preface = Buffer.from("x".repeat(24));
const anyFrame = fc.record({
  type: fc.nat(255),
  flags: fc.nat(255),
  stream: fc.nat(0x7fffffff),
  content: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
});

/** What is told, and how many bytes may be passed on, where the frame of number `refused` is not to be. */
function read(chunks: readonly Buffer[], refused = Number.POSITIVE_INFINITY): { told: Told[]; passed: number } {
  const told: Told[] = [];
  const reader = frameReader(preface.length, ({ lead, ...rest }) => {
    told.push({ ...rest, lead: lead.toString("hex") });
    return told.length <= refused;
  });
  let passed = 0;
  for (const chunk of chunks) {
    const allowed = reader(chunk);
    passed += allowed;
    if (allowed < chunk.length || told.length > refused) break;
  }
  return { told, passed };
}

test("whole, byte by byte and in two, the same frames are told", () => {
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 6 }), fc.nat(200), (frames, at) => {
      const bytes = Buffer.concat([preface, ...frames.map((each) => frame(each.type, each.flags, each.stream, each.content))]);
      const expected = frames.map(({ content, ...rest }) => ({
        ...rest,
        bytes: content.length,
        lead: content.subarray(0, 8).toString("hex"),
      }));
      for (const chunks of [
        [bytes],
        [...bytes].map((byte) => Buffer.from([byte])),
        [bytes.subarray(0, at), bytes.subarray(at)],
      ]) {
        const { told, passed } = read(chunks);
        assert.deepEqual(told, expected);
        assert.equal(passed, bytes.length);
      }
    }),
  );
});

test("of a chunk with a refused frame what comes before it is passed, and never all of the refused one", () => {
  const frames = ["one", "", "x".repeat(30)].map((content) => frame(0, 0, 1, content));
  const bytes = Buffer.concat([preface, ...frames]);
  const starts = frames.map((_, index) => preface.length + Buffer.concat(frames.slice(0, index)).length);
  for (const [refused, start] of starts.entries()) {
    assert.deepEqual(read([bytes], refused).passed, start);
    const { passed } = read(
      [...bytes].map((byte) => Buffer.from([byte])),
      refused,
    );
    assert.ok(
      passed >= start && passed < start + 9 + Math.max(1, Math.min(8, frames[refused]!.length - 9)),
      `${passed} of ${start}`,
    );
  }
});

test("servers without HTTP/2 are remembered, the oldest no longer than there is room", () => {
  const misfits = http2Misfits(2);
  for (const key of ["a", "b", "a", "c"]) misfits.add(key);
  assert.deepEqual(["a", "b", "c"].map(misfits.has), [false, true, true]);
});
