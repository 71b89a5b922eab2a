// Is a body of unknown type read by its bytes, and one of a known type left what it is?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sniffForbidden, typeOf } from "../../../core/html/sniff.ts";
import { parseContentType } from "../../../core/http/content-type.ts";

const BINARY = "application/octet-stream";
const rows: [situation: string, header: string, bytes: string, type: string][] = [
  ["nothing said, a page", "", " \r\n<TITLE >x", "text/html"],
  ["nothing said, a comment first", "", "<!-- x -->", "text/html"],
  ["a tag's name must end", "", "<pre>", "text/plain"],
  ["a tag that the standard does not list", "", "<ul>", "text/plain"],
  ["nothing said, XML", "unknown/unknown", "\t<?xml version='1.0'?>", "text/xml"],
  ["nothing said, words", "application/unknown", "a few words", "text/plain"],
  ["nothing said, no bytes", "", "", "text/plain"],
  ["nothing said, a byte order mark", "*/*", "\xff\xfea\0", "text/plain"],
  ["nothing said, PDF", "", "%PDF-1.7", BINARY],
  ["nothing said, a picture without control characters", "", "\xff\xd8\xff\xe0", BINARY],
  ["nothing said, control characters", "", "ab\x01", BINARY],
  ["control characters beyond the head are not seen", "", `${"a".repeat(1445)}\x01`, "text/plain"],
  ["a page that says so is one, whatever it holds", "text/html", "\x89PNG\r\n\x1a\n", "text/html"],
  ["text as Apache calls everything, with control characters", "text/plain; charset=ISO-8859-1", "ab\x01", BINARY],
  ["text as Apache calls everything, that is text", "text/plain", "<html>", "text/plain"],
  ["text as a person wrote it", "text/plain;charset=iso-8859-1", "ab\x01", "text/plain"],
];

for (const [situation, header, bytes, expected] of rows)
  test(`${situation}: ${expected}`, () => {
    assert.equal(typeOf(Buffer.from(bytes, "latin1"), parseContentType(header).type, header), expected);
  });

test("where guessing is forbidden, nothing that could run is guessed", () => {
  const guess = (bytes: string, header: string) =>
    typeOf(Buffer.from(bytes, "latin1"), parseContentType(header).type, header, { noSniff: true });
  assert.deepEqual(
    [guess("<html>", ""), guess("<?xml?>", ""), guess("\x01", "text/plain")],
    ["text/plain", "text/plain", "text/plain"],
  );
});

test("the first word of X-Content-Type-Options decides, in any case, and no later one", () => {
  const rows: [values: string[], forbidden: boolean][] = [
    [[], false],
    [[""], false],
    [["nosniff"], true],
    [["\tNoSniff "], true],
    [["nosniff, foo"], true],
    [["nosniff", "foo"], true],
    [["foo, nosniff"], false],
    [["foo", "nosniff"], false],
    [[",nosniff"], false],
    [["nosniff;"], false],
    [["'nosniff'"], false],
  ];
  for (const [values, forbidden] of rows) assert.equal(sniffForbidden(values), forbidden, JSON.stringify(values));
});

test("law: a known type stays, an unknown one becomes one of four", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.constantFrom("", "text/html", "text/csv", "image/png"), (bytes, type) => {
      const expected = type === "" ? ["text/html", "text/xml", "text/plain", BINARY] : [type];
      assert.ok(expected.includes(typeOf(bytes, type, type)));
    }),
  );
});
