// Does the reader take what others wrote, and name what is wrong with what it does not take?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { captureRecords } from "../../../core/warc/capture.ts";
import { headerOf, parseWarcRecord } from "../../../core/warc/read.ts";
import { warcRecord } from "../../../core/warc/record.ts";
import { warcinfoRecord } from "../../../core/warc/warcinfo.ts";
import { sampleCapture } from "./sample.ts";

const faults: [text: string, reason: string][] = [
  ["", "version"],
  ["HTTP/1.1 200 OK\r\n\r\n", "version"],
  ["WARC/1.1\r\nWARC-Type: response\r\n\r\n", "length"],
  ["WARC/1.1\r\nContent-Length: -1\r\n\r\n", "length"],
  ["WARC/1.1\r\nContent-Length: 5\r\n\r\nhell", "short"],
  ["WARC/1.1\r\nContent-Length: 999999999999999\r\n\r\n", "short"],
  [`WARC/1.1\r\nX: ${"x".repeat(2 ** 20)}\r\n\r\n`, "head"],
];
for (const [text, reason] of faults)
  test(`${JSON.stringify(text.slice(0, 50))} is refused as ${reason}`, () => {
    assert.deepEqual(parseWarcRecord(Buffer.from(text)), { ok: false, reason });
  });

test("bare line feeds, folded headers and odd cases are read", () => {
  const text = "WARC/1.0\nwarc-type: Resource\nX-Long: one\n  two\ncontent-length: 2\n\nhi\n\nWARC/1.0";
  const record = parseWarcRecord(Buffer.from(text));
  assert.ok(record.ok);
  assert.equal(record.version, "1.0");
  assert.equal(record.type, "resource");
  assert.equal(headerOf(record.headers, "x-long"), "one two");
  assert.equal(Buffer.from(record.block).toString(), "hi");
  assert.equal(text.slice(record.end), "WARC/1.0");
});

test("warcinfo says who wrote the file and that robots.txt is obeyed", () => {
  const info = {
    id: "1",
    at: 0,
    software: "gleaner/1\r\nx",
    userAgent: "bot",
    contact: "a@example.org",
    filename: "f.warc.gz",
    robots: "obey",
  } as const;
  const record = parseWarcRecord(Buffer.concat(warcinfoRecord(info)));
  assert.ok(record.ok);
  assert.equal(record.type, "warcinfo");
  assert.equal(headerOf(record.headers, "WARC-Filename"), "f.warc.gz");
  const fields = Buffer.from(record.block).toString().split("\r\n");
  for (const line of ["software: gleaner/1  x", "robots: obey", "operator: a@example.org", "http-header-user-agent: bot"])
    assert.ok(fields.includes(line), line);
});

test("law: records follow each other; each comes back with its block", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 4 }), (blocks) => {
      const bytes = Buffer.concat(blocks.flatMap((block) => warcRecord([["WARC-Type", "resource"]], [block])));
      let at = 0;
      for (const block of blocks) {
        const record = parseWarcRecord(bytes, at);
        assert.ok(record.ok);
        assert.deepEqual(Buffer.from(record.block), Buffer.from(block));
        at += Buffer.concat(warcRecord([["WARC-Type", "resource"]], [block])).length;
      }
    }),
  );
});

test("law: a cut record is never taken for a whole one, and no bytes make the reader throw", () => {
  const whole = Buffer.concat(captureRecords(sampleCapture())[1].bytes);
  const lineEnds = 4;
  for (let end = 0; end < whole.length - lineEnds; end++) assert.equal(parseWarcRecord(whole.subarray(0, end)).ok, false);
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      (tail) => void parseWarcRecord(Buffer.concat([whole.subarray(0, 60), tail])),
    ),
  );
});
