// Does one pass find what a page's links, metadata and text are made of, and count what it leaves?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { scanMarkup } from "../../../core/html/scan.ts";
import { limits } from "../../../schemas/limits.ts";

const scan = (markup: string, xml = false) => scanMarkup(markup, { xml, productToken: "OurBot" });

const rows: [situation: string, markup: string, hrefs: [href: string, follow: boolean][]][] = [
  ["an href stands once, as written, without fragment", `<a href=" a#x"><a href=" a#y">`, [[" a", true]]],
  ["one that may be followed anywhere may be followed", `<a href=a rel=nofollow><a href=a>`, [["a", true]]],
  ["one that never may be is kept, and says so", `<a href=a rel="x NOFOLLOW">`, [["a", false]]],
  ["the first of two attributes of a name counts", `<a href=a href=b>`, [["a", true]]],
  ["an empty href is one", `<a href>`, [["", true]]],
];

for (const [situation, markup, hrefs] of rows)
  test(situation, () => {
    assert.deepEqual([...scan(markup).hrefs], hrefs);
  });

test("base, canonical, refresh and description are the first of their kind, as written", () => {
  const { baseHref, canonicalHref, refresh, description } = scan(
    `<base target=x><base href=" b "><base href=c><link rel=Canonical href=d><link rel=canonical href=e>
     <meta http-equiv=refresh content="0;url=f"><meta http-equiv=refresh content="0;url=g"><meta name=description content=" h  i ">`,
  );
  assert.deepEqual([baseHref, canonicalHref, refresh, description], [" b ", "d", "0;url=f", "h i"]);
});

test("hrefs beyond the room for them are counted, not kept", () => {
  const room = 10 * limits.linksPerPage;
  const found = scan(Array.from({ length: room + 2 }, (_, index) => `<a href=${index}>`).join(""));
  assert.deepEqual([found.hrefs.size, found.hrefsBeyond], [room, 2]);
});

test("names keep their case in XML alone", () => {
  assert.deepEqual([...scan("<A href=x>").hrefs.keys(), ...scan("<A href='y'/><a href='z'/>", true).hrefs.keys()], ["x", "z"]);
});

test("law: text holds no run of blanks and keeps its limit", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("<p>", "</p>", " ", "\n", "a", "&nbsp;", "<!--", "-->", "<b>", "&#32;")), (parts) => {
      const { text } = scan(parts.join(""));
      assert.ok(!/\s\s|^\s|\s$/.test(text) && text.length <= limits.textChars);
    }),
  );
});
