// Do queries leave a page in its own encoding, as browsers send them?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { withEncodedQuery } from "../../../core/html/query-encoding.ts";
import { pageOf } from "./page-of.ts";

const rows: [charset: string, href: string, expected: string][] = [
  ["utf-8", "?é", "?é"],
  ["utf-16le", "?é", "?é"],
  ["iso-2022-jp", "?日", "?日"],
  ["windows-1252", "/é?é€#é", "/é?%E9%80#é"],
  ["windows-1252", "/é#?é", "/é#?é"],
  ["windows-1252", "/é", "/é"],
  ["windows-1252", "?a=b&c=%E9", "?a=b&c=%E9"],
  ["windows-1252", "?Ж", "?%26%231046%3B"],
  ["windows-1251", "?Ж", "?%C6"],
  ["koi8-r", "?Ж", "?%F6"],
  ["gbk", "?中€", "?%D6%D0%80"],
  ["gb18030", "?中€", "?%D6%D0%A2%E3"],
  ["big5", "?中", "?%A4%A4"],
  ["shift_jis", "?ソｱ纊", "?%83\\%B1%FA\\"],
  ["euc-jp", "?日ｱ", "?%C6%FC%8E%B1"],
  ["euc-kr", "?한", "?%C7%D1"],
  ["gbk", "?😀", "?%26%23128512%3B"],
  ["gbk", "?\ud800", "?%26%2355296%3B"],
];

for (const [charset, href, expected] of rows)
  test(`${charset}: ${JSON.stringify(href)} is sent as ${expected}`, () => {
    assert.equal(withEncodedQuery(href, charset), expected);
  });

test("links, canonical and refresh of a legacy page all leave in its encoding; paths are always UTF-8", () => {
  const markup = `<link rel=canonical href="?c=é"><meta http-equiv=refresh content="0;url=?r=é"><a href="/é?a=é">`;
  const page = pageOf(Buffer.from(markup, "latin1"), { contentType: "text/html; charset=iso-8859-1" });
  assert.deepEqual(page.links, ["http://example.org/%C3%A9?a=%E9"]);
  assert.equal(page.canonical, "http://example.org/d/me.html?c=%E9");
  assert.equal(page.refresh, "http://example.org/d/me.html?r=%E9");
});

test("law: what leaves decodes to what stood there, where the encoding has it", () => {
  const characters = "éüßЖяαω中文字日本語한국어ソ表￥";
  fc.assert(
    fc.property(
      fc.constantFrom(
        "windows-1252",
        "windows-1251",
        "windows-1253",
        "gbk",
        "gb18030",
        "big5",
        "shift_jis",
        "euc-jp",
        "euc-kr",
      ),
      fc.array(fc.constantFrom(...characters)),
      (charset, query) => {
        const sent = withEncodedQuery(`?${query.join("")}`, charset);
        const bytes = Buffer.from(
          sent.replace(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
          "latin1",
        );
        const back = new TextDecoder(charset)
          .decode(bytes)
          .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
        assert.equal(back, `?${query.join("")}`);
      },
    ),
  );
});
