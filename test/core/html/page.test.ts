// Is what a page says of itself read as the standards say, and never more than its limits?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { simHash } from "../../../core/content/simhash.ts";
import { limits } from "../../../schemas/limits.ts";
import type { ParsedPage, ParseRequest } from "../../../schemas/parsed-page.ts";
import { pageOf } from "./page-of.ts";

const meta: [situation: string, markup: string, expected: Partial<ParsedPage>, changes?: Partial<ParseRequest>][] = [
  ["a title is one line", `<title> A &amp;\n B </title>`, { title: "A & B" }],
  [
    "the first title counts, one in svg is none",
    `<svg><title>no</title></svg><title>yes</title><title>no</title>`,
    { title: "yes" },
  ],
  ["meta robots in any case (L14)", `<META NAME="ROBOTS" CONTENT="NOFOLLOW">`, { nofollow: true, noindex: false }],
  [
    "meta of our name",
    `<meta name=ourbot content=noindex><meta name=otherbot content=nofollow>`,
    { noindex: true, nofollow: false },
  ],
  [
    "a wish in noscript is meant for us too",
    `<noscript><meta name=robots content=none></noscript>`,
    { noindex: true, nofollow: true },
  ],
  ["a header's wish", `<p>x`, { noindex: true }, { robotsTags: ["noindex"] }],
  ["canonical is absolute", `<link rel="alternate canonical" href="/c?x#y">`, { canonical: "http://example.org/c?x" }],
  ["refresh is absolute", `<meta http-equiv=Refresh content="0; URL='next'">`, { refresh: "http://example.org/d/next" }],
  ["the language of html", `<html lang="pt-BR">`, { language: "pt-BR" }],
];

for (const [situation, markup, expected, changes] of meta)
  test(situation, () => {
    const page = pageOf(markup, changes);
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, page[key as keyof ParsedPage]])), expected);
  });

test("what a page does not say is absent", () => {
  const page = pageOf(`<link rel=canonical href="mailto:x"><meta http-equiv=refresh content="5"><html lang="<?lang?>">`);
  assert.deepEqual([page.canonical, page.refresh, page.language, page.document], [undefined, undefined, undefined, undefined]);
});

test("a page that asks not to be followed has no links, and says how many it had", () => {
  const page = pageOf(`<a href=a></a><a href=b></a><meta name=robots content=nofollow>`);
  assert.deepEqual([page.links, page.refused.nofollow], [[], 2]);
});

test("hidden parts are no text, inline tags part no words", () => {
  const page = pageOf(
    `<title>no</title><style>no</style><p>one t<b>w</b>o</p><script>no</script><noscript>no</noscript>three<br>four<template>no</template><textarea>no</textarea>`,
  );
  assert.equal(page.simHash, simHash("one two three four"));
  assert.equal(page.quality.textChars, "one two three four".length);
});

test("quality counts text, links and title", () => {
  const { quality } = pageOf(`<title>T</title><p>${"x".repeat(73)}</p><a href=a rel=nofollow></a><a href="mailto:b"></a>`);
  assert.deepEqual(quality, { textChars: 73, linkCount: 2, textRatioPercent: 50, hasTitle: true });
});

test("plain text has no links and is its own document", () => {
  const page = pageOf("see <a href=x>\n  http://example.org/\n", { contentType: "text/plain", document: true });
  assert.deepEqual([page.links, page.title], [[], ""]);
  assert.equal(page.document?.text, "see <a href=x>\n  http://example.org/");
});

test("XHTML: an element may close itself, and CDATA is text", () => {
  const page = pageOf(
    `<html xmlns="x"><head><title/><script src="s"/></head><body><a href="q"/><![CDATA[<a href="no">]]></body></html>`,
    {
      contentType: "application/xhtml+xml",
    },
  );
  assert.deepEqual(page.links, ["http://example.org/d/q"]);
  assert.equal(page.simHash, simHash("a href no"));
});

test("a body that is neither markup nor text is an empty page", () => {
  const page = pageOf(`<a href=x>text`, { contentType: "image/png", document: true });
  assert.deepEqual([page.links, page.quality.textChars, page.document?.text], [[], 0, ""]);
});

test("a body of no type is read by its bytes", () => {
  const of = (body: string) => pageOf(body, { contentType: "", document: true });
  assert.deepEqual(of("<p><a href=x>text</a>").links, ["http://example.org/d/x"]);
  assert.deepEqual(of(`<?xml version="1.0"?><html><A href="x"/><a href="y"/></html>`).links, ["http://example.org/d/y"]);
  assert.equal(of("see <a href=x>text</a>").document?.text, "see <a href=x>text</a>");
  assert.equal(of("%PDF-1.7 text").document?.text, "");
});

test("the legacy encoding of a page is decoded", () => {
  const bytes = Buffer.concat([
    Buffer.from(`<meta charset=koi8-r><title>`),
    Buffer.from([0xf0, 0xd2]),
    Buffer.from("</title>"),
  ]);
  assert.equal(pageOf(bytes, { contentType: "text/html" }).title, "Пр");
});

test("title and text keep their limits", () => {
  const page = pageOf(`<title>${"t".repeat(5000)}</title>${"word ".repeat(300_000)}`);
  assert.equal(page.title.length, limits.titleChars);
  assert.ok(page.quality.textChars <= limits.textChars);
});

const HOSTILE_COUNT = 100_000;
const hostile: [situation: string, markup: string][] = [
  ["a hundred thousand nested elements", "<div>".repeat(HOSTILE_COUNT)],
  ["nested elements just within the tree's limit", "<div>".repeat(9_000)],
  ["closing tags of nothing", "</p>".repeat(HOSTILE_COUNT)],
  ["closing tags that match none of the open elements", "<b>".repeat(HOSTILE_COUNT) + "</i>".repeat(HOSTILE_COUNT)],
  ["unfinished comments", "<!--".repeat(HOSTILE_COUNT)],
  ["unfinished attributes", `<a href="`.repeat(HOSTILE_COUNT)],
  ["one attribute of entities", `<a href="${"&amp;".repeat(HOSTILE_COUNT)}">`],
  ["one tag of many attributes", `<a ${Array.from({ length: HOSTILE_COUNT }, (_, index) => `a${index}=x`).join(" ")}>`],
  ["nothing but openers", "<".repeat(10 * HOSTILE_COUNT)],
  ["nothing but ampersands", "&".repeat(10 * HOSTILE_COUNT)],
  ["nested templates", "<template>".repeat(HOSTILE_COUNT)],
  ["deeply nested structured data", `<script type="application/ld+json">${"[".repeat(60_000)}</script>`],
];

for (const [situation, markup] of hostile)
  test(`${situation} end in a page`, () => {
    const page = pageOf(`<p>first</p>${markup}`, { document: true });
    assert.ok(page.ok);
    assert.match(page.document?.text ?? "", /^first/);
  });

test("law: no bytes make parsing throw, or give a link that is not canonical", () => {
  const fragment = fc.constantFrom(
    "<a href=",
    '"',
    "'",
    ">",
    "<",
    "/",
    "</",
    "a",
    "<!--",
    "-->",
    "<svg>",
    "<title>",
    "</title>",
    "&amp;",
    "&",
    "<base href=x>",
    "<template>",
    "<script>",
    "</script>",
    "<table>",
    "<td>",
    "<main>",
    "<h1>",
    "text ",
    "=",
    " ",
    "<![CDATA[",
    "]]>",
    "<?x",
    "\0",
    "é",
  );
  fc.assert(
    fc.property(
      fc.array(fragment, { maxLength: 40 }),
      fc.constantFrom("text/html", "application/xhtml+xml", "text/plain", ""),
      (parts, contentType) => {
        const page = pageOf(parts.join(""), { contentType, document: true });
        for (const link of page.links) assert.match(link, /^http:\/\/[^#]*$/);
      },
    ),
    { numRuns: 500 },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => pageOf(bytes, { contentType: "", document: true }).ok));
});
