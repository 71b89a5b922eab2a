// Are the characters of a sitemap those that its writer meant, however they are encoded and cut?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeChunks } from "../../../core/sitemap/decode.ts";

const decode = (bytes: Uint8Array, contentType = "") => [...decodeChunks(bytes, contentType)].join("");

test("a mark wins over the header, the header over the declaration, the declaration over UTF-8", () => {
  const declared = '<?xml version="1.0" encoding="windows-1251"?>';
  const rows: [situation: string, bytes: Uint8Array, contentType: string, expected: string][] = [
    ["nothing said", Buffer.from("<ж>"), "", "<ж>"],
    ["declared", Buffer.from([...Buffer.from(declared), 0xe6]), "", `${declared}ж`],
    ["header", Buffer.from([...Buffer.from(declared), 0xe6]), 'text/xml; charset="iso-8859-1"', `${declared}æ`],
    ["mark", Buffer.from("\ufeff<ж>"), "text/xml; charset=iso-8859-1", "<ж>"],
    ["UTF-16 without a mark", Buffer.from("<ж>", "utf16le"), "", "<ж>"],
    ["a UTF-16 label on what is not", Buffer.from("<ж>"), "text/xml; charset=utf-16", "<ж>"],
    ["an unknown label", Buffer.from("<ж>"), "text/xml; charset=x-nonesuch", "<ж>"],
  ];
  for (const [situation, bytes, contentType, expected] of rows) assert.equal(decode(bytes, contentType), expected, situation);
});

test("blanks before the first character are left out, a blank document has no piece", () => {
  assert.equal(decode(Buffer.from("\ufeff \n\t<a> ")), "<a> ");
  assert.deepEqual([...decodeChunks(Buffer.from(" ".repeat(40_000)), "")], []);
});

test("a character that two pieces share is whole", () => {
  for (let blanks = 0; blanks < 8; blanks++) {
    const text = `<${"x".repeat(16 * 1024 - 8 + blanks)}🐈>`;
    assert.equal(decode(Buffer.from(text)), text);
  }
});

test("no bytes make it throw", () => {
  fc.assert(
    fc.property(
      fc.uint8Array(),
      fc.string(),
      (bytes, contentType) => typeof decode(bytes, `text/xml; charset=${contentType}`) === "string",
    ),
  );
});
