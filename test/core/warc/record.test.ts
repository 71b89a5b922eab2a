// Are the bytes, dates, ids and digests of a record as WARC readers take them?
import assert from "node:assert/strict";
import { test } from "node:test";
import { labelledDigest, oneLine, recordId, warcDate, warcRecord } from "../../../core/warc/record.ts";

test("the digest is SHA-1 in base32, however the bytes are cut into parts", () => {
  const rows: [text: string, digest: string][] = [
    ["", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
    ["abc", "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"],
  ];
  for (const [text, digest] of rows) {
    assert.equal(labelledDigest([Buffer.from(text)]), digest);
    assert.equal(labelledDigest([...text].map((letter) => Buffer.from(letter))), digest);
  }
  const large = Buffer.alloc(100_000, "x");
  assert.equal(labelledDigest([large]), labelledDigest([large.subarray(0, 7), large.subarray(7)]));
});

test("a record is its lines, its block as it is, and two line ends; no value ends a line", () => {
  const record = Buffer.concat(warcRecord([["WARC-Type", "a\r\nX: b"]], [Buffer.from("bl"), Buffer.from("ock")]));
  assert.equal(record.toString(), "WARC/1.1\r\nWARC-Type: a  X: b\r\nContent-Length: 5\r\n\r\nblock\r\n\r\n");
  assert.equal(oneLine("\0 a\tb\x7f"), "a b");
});

test("dates keep their milliseconds, and a token becomes a UUID that says it is random", () => {
  assert.equal(warcDate(0), "1970-01-01T00:00:00.000Z");
  assert.match(recordId("_".repeat(22)), /^<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>$/);
  assert.equal(recordId("a\nb"), "<urn:uuid:a b>");
});
