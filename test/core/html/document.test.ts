// Does the document hold what a page says, and not what frames it?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DocumentReader } from "../../../core/html/document.ts";
import { scanMarkup } from "../../../core/html/scan.ts";
import { limits } from "../../../schemas/limits.ts";
import { pageOf } from "./page-of.ts";

const PROSE = "A sentence of prose that is long enough to be taken for what the page is about, not for a menu.";
const MORE = "Another sentence of prose, which follows the first one and says something quite different from it.";

function textOf(markup: string): string {
  return pageOf(markup, { document: true }).document?.text ?? "none";
}

/** Not the pass's text where the document has none. */
function ownTextOf(markup: string): string {
  const reader = new DocumentReader();
  const scan = scanMarkup(markup, { xml: false, productToken: "OurBot", reader });
  return reader.finish({ ...scan, text: "" }).text;
}

const rows: [situation: string, markup: string, text: string][] = [
  [
    "navigation, header, aside and footer are left out",
    `<header>top</header><nav>menu</nav><p>${PROSE}</p><p>${MORE}</p><aside>side</aside><footer>end</footer>`,
    `${PROSE}\n${MORE}`,
  ],
  ["main stands for the page", `<div>${MORE}</div><main><p>${PROSE} ${PROSE}</p></main>`, `${PROSE} ${PROSE}`],
  ["an empty main does not", `<main></main><p>${PROSE}</p><p>${MORE}</p>`, `${PROSE}\n${MORE}`],
  [
    "the longest article stands for the page",
    `<article><p>${PROSE}</p><p>${MORE}</p></article><article><p>${MORE}</p></article>`,
    `${PROSE}\n${MORE}`,
  ],
  [
    "rows of links are left out",
    `<p>${PROSE}</p><p>${MORE}</p><div><a href=a>${PROSE}</a> <a href=b>${MORE}</a></div>`,
    `${PROSE}\n${MORE}`,
  ],
  [
    "a short line beside prose stays, far from it goes",
    `<p>far</p><div><a href=a>${PROSE}</a></div><p>near</p><p>${PROSE}</p><p>${MORE}</p>`,
    `near\n${PROSE}\n${MORE}`,
  ],
  ["a heading stays with its text", `<h2>Head</h2><h3>Sub</h3><p>${PROSE}</p><p>${MORE}</p>`, `Head\nSub\n${PROSE}\n${MORE}`],
  [
    "a header inside the article is its own",
    `<article><header><h1>Head</h1></header><p>${PROSE}</p><p>${MORE}</p></article>`,
    `Head\n${PROSE}\n${MORE}`,
  ],
  [
    "a table is one text",
    `<table><tr><td>Some city<td>1,000,000 people<tr><td>Another city<td>2,000,000 people</table><p>${PROSE}</p><p>${MORE}</p>`,
    `Some city 1,000,000 people Another city 2,000,000 people\n${PROSE}\n${MORE}`,
  ],
  ["a page inside a form is a page", `<form><p>${PROSE}</p><p>${MORE}</p><button>send</button></form>`, `${PROSE}\n${MORE}`],
  [
    "hidden elements are left out",
    `<div hidden>${PROSE}</div><div role=navigation>${PROSE}</div><div aria-hidden=true>${PROSE}</div><p>${MORE}</p>`,
    MORE,
  ],
  ["a page of short lines keeps them all", `<p>one</p><p>two</p>`, "one\ntwo"],
];

for (const [situation, markup, text] of rows)
  test(situation, () => {
    assert.equal(textOf(markup), text);
  });

test("headings, description and valid structured data are listed", () => {
  const { document } = pageOf(
    `<meta name=description content=" What it is "><meta property="og:description" content="no">
     <script type="application/ld+json"> {"@type": "Thing"} </script><script type="application/ld+json">{broken</script>
     <nav><h2>Menu</h2></nav><h1>One <i>and</i> two</h1><p>x</p><h3>Three</h3>`,
    { document: true },
  );
  assert.deepEqual(document?.headings, [
    { level: 1, text: "One and two" },
    { level: 3, text: "Three" },
  ]);
  assert.equal(document?.description, "What it is");
  assert.deepEqual(document?.structuredData, ['{"@type": "Thing"}']);
});

test("a page that asks not to be indexed has no document", () => {
  assert.equal(pageOf(`<meta name=robots content=noindex><p>${PROSE}`, { document: true }).document, undefined);
});

test("behind a doctype and a head, headings, text and structured data are found", () => {
  const { document } = pageOf(
    `<!DOCTYPE html><html lang=en><head><title>T</title><script type=" Application/LD+JSON">["&amp;"]</script></head>
     <body><h1>Head</h1><p>${PROSE}</p><p>${MORE}</p></body></html>`,
    { document: true },
  );
  assert.deepEqual(document, {
    text: `Head\n${PROSE}\n${MORE}`,
    headings: [{ level: 1, text: "Head" }],
    structuredData: ['["&amp;"]'],
  });
});

const SHORT = "x";
const ends: [situation: string, markup: string, text: string][] = [
  ["a paragraph ends where another begins", `<p hidden>no<p>${SHORT}`, SHORT],
  ["a paragraph ends where a block begins, whose end is the block's own", `<p hidden>no<div>${SHORT}</div></p>y`, "x\ny"],
  ["a list item ends where another begins", `<ul><li hidden>no<li>${SHORT}</ul>`, SHORT],
  [
    "a row ends where another begins, with its cell and paragraph",
    `<table><tr hidden><td><p>no<tr><td>${SHORT}</table>`,
    SHORT,
  ],
  ["a nested list does not end the item around it", `<ul><li hidden>no<ul><li>no</ul>no<li>${SHORT}</ul>`, SHORT],
  ["a head without an end ends where the body's content begins", `<head><title>no</title><meta name=a><p>${SHORT}`, SHORT],
  ["what is left out and never closed ends with what is around it", `<div><nav>no<b>no</div>${SHORT}`, SHORT],
  ["what is left out and never closed takes the rest where nothing is around it", `${SHORT}<nav>no<b>no`, SHORT],
  ["an end tag of the same name inside ends only the inner one", `<div hidden><div>no</div>no</div>${SHORT}`, SHORT],
  ["end tags of nothing end nothing", `</nav></div>${SHORT}<div hidden></nav></b>no</i>no</div></div>`, SHORT],
  ["an element that holds nothing leaves nothing out", `<input hidden><hr hidden>${SHORT}<wbr hidden>`, SHORT],
  ["a paragraph's end alone parts text", `${SHORT}</p>y`, "x\ny"],
  ["a line break's end alone is a line break", `${SHORT}</br>y`, "x y"],
  ["a script that looks like an end of its parent is no text", `<div><script>"</div>no"</script>${SHORT}</div>`, SHORT],
  ["what a drawing says is no text", `<svg><title>no</title><p>no</svg>${SHORT}`, SHORT],
  ["names and attributes are found in any case", `<DIV HIDDEN>no</dIV><NAV>no</NAV>${SHORT}`, SHORT],
  ["the first of two attributes counts", `<div role=navigation role=main>no</div>${SHORT}`, SHORT],
];

for (const [situation, markup, text] of ends)
  test(situation, () => {
    assert.equal(ownTextOf(markup), text);
  });

test("in XHTML any element may close itself", () => {
  const markup = `<html xmlns="http://www.w3.org/1999/xhtml"><div hidden=""/><p>${SHORT}</p><script src="y"/>y</html>`;
  assert.equal(pageOf(markup, { contentType: "application/xhtml+xml", document: true }).document?.text, "x\ny");
});

const DATA = `<script type="application/ld+json">1</script>`;
const dataRows: [situation: string, markup: string, count: number][] = [
  ["in the frame", `<nav>${DATA}</nav><footer>${DATA}</footer>`, 2],
  ["in a template", `<template>${DATA}</template>`, 0],
  ["of another type", `<script type=module>1</script><script>1</script>`, 0],
  ["that does not end", DATA.replace("</script>", ""), 0],
  ["of more blocks than are kept", DATA.repeat(30), 20],
  ["longer than is kept", DATA.replace("1", `"${"1".repeat(64 * 1024)}"`), 0],
  ["deeper than elements are followed", `${"<i>".repeat(1000)}${DATA}`, 1],
];

for (const [situation, markup, count] of dataRows)
  test(`structured data ${situation}: ${count}`, () => {
    assert.equal(pageOf(markup, { document: true }).document?.structuredData.length, count);
  });

const COUNT = 100_000;
const vast: [situation: string, markup: string, text: string][] = [
  ["a hundred thousand nested elements, each closed", `${"<div>".repeat(COUNT)}x${"</div>".repeat(COUNT)}y`, "x\ny"],
  ["as many never closed, and an end tag of nothing for each", `${"<b>".repeat(COUNT)}${"</i>".repeat(COUNT)}x`, "x"],
  ["as many left out, one in the other", `${"<nav>".repeat(COUNT)}no`, ""],
  ["as many names", `${Array.from({ length: COUNT }, (_, index) => `<x${index}>`).join("")}x`, "x"],
  ["as many tags in a text", `${"<b></b>".repeat(COUNT)}x`, "x"],
  ["an element that is left out below all that are followed", `${"<i>".repeat(1000)}<style>no</style><nav>no<b>no</nav>x`, "x"],
];

for (const [situation, markup, text] of vast)
  test(`${situation}: the text is found`, () => {
    assert.equal(ownTextOf(markup), text);
  });

test("a heading deeper than elements are followed is a text like any other", () => {
  const headingsAt = (depth: number) =>
    pageOf(`${"<i>".repeat(depth)}<h1>x</h1>`, { document: true }).document?.headings.length;
  assert.deepEqual([511, 512].map(headingsAt), [1, 0]);
});

test("text, blocks and headings keep their limits", () => {
  const { document } = pageOf(`${`<h2>${"t".repeat(2000)}</h2>`.repeat(501)}`, { document: true });
  assert.equal(document?.headings.length, limits.headings);
  assert.equal(document?.headings[0]?.text.length, limits.titleChars);
  assert.equal(document?.text.length, limits.textChars);
  assert.equal(textOf("<p>x".repeat(COUNT + 1)).length, 2 * COUNT - 1);
  assert.equal(textOf("words<i>".repeat(COUNT * 3)).length, limits.textChars);
});

test("law: reading along changes nothing of the pass", () => {
  const part = fc.constantFrom(
    `<a role=${"x".repeat(limits.attributeChars + 1)}>`,
    ..."<a href=|<a role=|<p hidden>|</p>|<meta content=|<html lang=|<svg>|<template>|</template>|<script>|</script>|<title>|x| |>|'|&amp;|/>".split(
      "|",
    ),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.boolean(), (parts, xml) => {
      const options = { xml, productToken: "OurBot" };
      const markup = parts.join("");
      assert.deepEqual(scanMarkup(markup, { ...options, reader: new DocumentReader() }), scanMarkup(markup, options));
    }),
  );
});
