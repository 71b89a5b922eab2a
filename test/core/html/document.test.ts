// Does the document hold what a page says, and not what frames it?
import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf } from "./page-of.ts";

const PROSE = "A sentence of prose that is long enough to be taken for what the page is about, not for a menu.";
const MORE = "Another sentence of prose, which follows the first one and says something quite different from it.";

function textOf(markup: string): string {
  return pageOf(markup, { document: true }).document?.text ?? "none";
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

test("a page of more tags than a tree may hold keeps its text", () => {
  const { document } = pageOf(`<nav>menu</nav><p>${PROSE}${"<b></b>".repeat(25_000)}`, { document: true });
  assert.equal(document?.text, `menu ${PROSE}`);
});
