// Do all spellings of a path come to one form, and different paths to different ones? RFC 9309 2.2.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalOctets, escapeBytes, escapeSpecials } from "../../../core/robots/octets.ts";

test("each kind of octet comes to its one form", () => {
  const rows: [situation: string, text: string, expected: string][] = [
    ["unreserved ones stand raw", "/%41%7a%2D%5f%7E", "/Az-_~"],
    ["reserved ones as they came", "/a%2fb/c?d%3De=f", "/a%2Fb/c?d%3De=f"],
    ["all others escaped", '/a "<ü>|', "/a%20%22%3C%C3%BC%3E%7C"],
    ["control characters too", "/\0\x7f", "/%00%7F"],
    ["a stray percent sign is one of them", "/5%/%zz/%4", "/5%25/%25zz/%254"],
    ["half a surrogate pair is U+FFFD", "/\ud800", "/%EF%BF%BD"],
    ["a pair is one character", "/🐈", "/%F0%9F%90%88"],
  ];
  for (const [situation, text, expected] of rows) assert.equal(canonicalOctets(text), expected, situation);
});

test("the form is its own form, and is printable ASCII", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const once = canonicalOctets(text);
      assert.equal(canonicalOctets(once), once);
      assert.match(once, /^[\x21-\x7e]*$/);
    }),
  );
});

test("bytes and the text they spell come to the same form", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      assert.equal(canonicalOctets(escapeBytes(Buffer.from(text).toString("latin1"))), canonicalOctets(text));
    }),
  );
});

test("a URL's stars and dollars are told from a rule's", () => {
  assert.equal(escapeSpecials("/a*b$"), "/a%2Ab%24");
});
