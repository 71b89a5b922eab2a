// Is the encoding of a page found where browsers find it?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeMarkup, decodePlain } from "../../../core/html/charset.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

const rows: [situation: string, bytes: Uint8Array, transport: string | undefined, charset: string, source: string][] = [
  ["a byte order mark beats the header", latin1("\xef\xbb\xbf<meta charset=koi8-r>"), "windows-1251", "utf-8", "bom"],
  ["the header beats the page", latin1("<meta charset=koi8-r>"), "windows-1251", "windows-1251", "transport"],
  ["a header's unknown label is passed over", latin1("<meta charset=koi8-r>"), "x-nonsense", "koi8-r", "meta"],
  ["a label that was used in attacks is unknown", latin1("<meta charset=hz-gb-2312>"), undefined, "utf-8", "guess"],
  [
    "http-equiv tells it",
    latin1(`<meta http-equiv=content-type content="text/html; charset='euc-jp'">`),
    undefined,
    "euc-jp",
    "meta",
  ],
  ["content without http-equiv does not", latin1(`<meta content="text/html; charset=euc-jp">`), undefined, "utf-8", "guess"],
  ["UTF-16 in a declaration read as ASCII is UTF-8", latin1("<meta charset=utf-16>"), undefined, "utf-8", "meta"],
  ["a comment's declaration is none", latin1("<!-- <meta charset=koi8-r> -->"), undefined, "utf-8", "guess"],
  [
    "a declaration that the window cuts is none (L10)",
    latin1(`${" ".repeat(16 * 1024 - 15)}<meta charset=koi8-r>`),
    undefined,
    "utf-8",
    "guess",
  ],
  [
    "one that the first window cuts, and a later one, count as the parser meets them",
    latin1(`${" ".repeat(1005)}<meta charset=koi8-r>`),
    undefined,
    "koi8-r",
    "meta",
  ],
  [
    "a late one in a script is none: the parser meets no element there",
    latin1(
      `${" ".repeat(2000)}<script>"<meta charset=koi8-r>"</SCRIPT ><title><meta charset=euc-kr></title><meta charset=big5>`,
    ),
    undefined,
    "big5",
    "meta",
  ],
  [
    "nor in a script that never ends",
    latin1(`${" ".repeat(2000)}<script>"<meta charset=koi8-r>"`),
    undefined,
    "utf-8",
    "guess",
  ],
  [
    "an early one in a script counts: the prescan knows no scripts",
    latin1(`<script>"<meta charset=koi8-r>"</script>`),
    undefined,
    "koi8-r",
    "meta",
  ],
  ["an XML declaration tells it", latin1(`<?xml version="1.0" encoding = 'iso-8859-2'?>`), undefined, "iso-8859-2", "xml"],
  ["UTF-16 XML shows itself", Buffer.from("<?xml ?>", "utf16le"), undefined, "utf-16le", "xml"],
  ["nothing said and valid: UTF-8", Buffer.from("é"), undefined, "utf-8", "guess"],
  ["nothing said and not valid: windows-1252", latin1("\x80\xe9"), undefined, "windows-1252", "guess"],
];

for (const [situation, bytes, transport, charset, source] of rows)
  test(situation, () => {
    const found = decodeMarkup(bytes, transport);
    assert.deepEqual([found.charset, found.source], [charset, source]);
  });

test("a mark is not part of the text, and bytes that mean nothing are replaced", () => {
  assert.equal(decodeMarkup(latin1("\xef\xbb\xbfa\xff"), undefined).text, "a\ufffd");
  assert.equal(decodeMarkup(latin1("\x80"), undefined).text, "€");
});

test("plain text declares nothing in itself", () => {
  assert.equal(decodePlain(latin1("<meta charset=koi8-r>"), undefined).charset, "utf-8");
});

test("law: no bytes and no label make decoding throw", () => {
  const start = fc.constantFrom(
    "",
    "<meta charset=",
    "<meta http-equiv=content-type content='charset",
    "<?xml encoding=",
    "<!--",
    "</a ",
  );
  fc.assert(
    fc.property(
      start,
      fc.uint8Array({ maxLength: 60 }),
      fc.option(fc.string(), { nil: undefined }),
      (head, tail, transport) => {
        assert.equal(typeof decodeMarkup(Buffer.concat([Buffer.from(head), tail]), transport).text, "string");
      },
    ),
  );
});
