// Does any page hold up the parser, or take the crawl's process with it? Each shape of attack through the real pool at its real limits.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../../io/clock.ts";
import { workerParser } from "../../io/parsing/pool.ts";
import type { ParseFailure } from "../../ports/parser.ts";
import { limits } from "../../schemas/limits.ts";
import type { ParsedPage } from "../../schemas/parsed-page.ts";

const MIB = 1024 * 1024;
const pool = (memoryMb: number = limits.parserMemoryMb) =>
  workerParser({ workers: 1, timeMs: limits.parseMs, memoryMb, queueMax: 100, clock: systemClock() });
const parser = pool();
after(() => parser.close());

function parse(markup: string, by = parser): Promise<ParsedPage | ParseFailure> {
  const request = { url: "http://a.test/", contentType: "text/html; charset=utf-8", robotsTags: [], productToken: "OurBot" };
  return by.parse({ ...request, bytes: Buffer.from(markup), document: true });
}

const filled = (piece: string, bytes = MIB): string => piece.repeat(Math.ceil(bytes / piece.length));
const last = '</a></b></title></script><a href="/last">last</a>';

const shapes: Record<string, string> = {
  "nested elements": filled("<div>"),
  "nested formatting": filled("<b><i>"),
  "nested tables": filled("<table><tr><td>"),
  "paragraphs that never end": filled("<p>"),
  "ends without beginnings": `${filled("<div>", MIB / 2)}${filled("</x>")}`,
  "elements that end each other": `${filled("<a><div>", MIB / 2)}${filled("</a>")}`,
  "attributes of one name": `<a ${filled("a=1 ")}>`,
  "attributes of other names": `<a ${Array.from({ length: 100_000 }, (_, index) => `a${index}=1`).join(" ")}>`,
  "comments that never end": filled("<!--"),
  "scripts that never end": filled("<script>"),
  "half an end of a script": `<script>${filled("</script")}`,
  "titles that never end": filled("<title>"),
  "less-than signs": filled("<"),
  ampersands: filled("&"),
  "numbers of characters that never end": filled("&#x"),
  "quotes that never end": filled("<a href='"),
  "blanks within a tag": `<a ${filled(" ")}href=/x>`,
  "bases and links": `${filled("<base href=//a>", MIB / 2)}${filled("<a href=x>", MIB / 2)}`,
  "one link of megabytes": `<a href="/${filled("x")}">`,
  "charsets that never end": filled("<meta charset="),
  "structured data, deeply nested": `<script type="application/ld+json">${filled("[")}</script>`,
  "structured data that never ends": filled('<script type="application/ld+json">{"a":'),
  "zero bytes": filled("\0"),
  "zero bytes in links": filled("<a href='/good/1\0'>\0</a>"),
  "foreign elements": filled("<svg><foreignObject>"),
  definitions: filled("<dd>x"),
  headings: filled("<h1>x"),
  words: filled("lorem ipsum dolor sit amet "),
  paragraphs: filled("<p>lorem ipsum dolor "),
  "one word": filled("x"),
};

test("each shape of page is parsed within the limits of time and memory", async () => {
  const failed: string[] = [];
  for (const [shape, markup] of Object.entries(shapes)) {
    const page = await parse(markup + last);
    if (!page.ok) failed.push(`${shape}: ${page.reason}`);
    else assert.ok(page.links.length <= limits.linksPerPage && (page.document?.text.length ?? 0) <= limits.textChars, shape);
  }
  assert.deepEqual(failed, []);
});

test("of 100,000 links those within the limit are taken and the rest counted", async () => {
  const page = await parse(Array.from({ length: 100_000 }, (_, index) => `<a href="/${index}">l</a>`).join(""));
  assert.ok(page.ok);
  assert.deepEqual([page.links.length, page.refused.fanOut], [limits.linksPerPage, 100_000 - limits.linksPerPage]);
  assert.deepEqual(page.links.slice(0, 2), ["http://a.test/0", "http://a.test/1"]);
});

test("100,000 elements within each other hide no link behind them", async () => {
  const page = await parse(`${"<div>".repeat(100_000)}<a href=/deep>deep</a>`);
  assert.ok(page.ok);
  assert.deepEqual(page.links, ["http://a.test/deep"]);
});

test("pages that overrun their memory one after the other are values each, and this process lives on", async () => {
  const small = pool(16);
  try {
    const tooMuch = ["paragraphs", "definitions", "headings"].map((shape) => shapes[shape]!.repeat(3));
    const reasons: string[] = [];
    for (const markup of tooMuch) {
      const page = await parse(markup, small);
      reasons.push(page.ok ? "parsed" : page.reason);
    }
    assert.deepEqual(reasons, ["memory", "memory", "memory"]);
    const next = await parse("<title>next</title>", small);
    assert.ok(next.ok && next.title === "next");
  } finally {
    await small.close();
  }
});

test("large pages that wait are bounded in number: one more is put off, none is lost", async () => {
  const own = pool();
  try {
    const results = await Promise.all(Array.from({ length: 9 }, () => parse(filled("<p>x", 2 * MIB + 1), own)));
    const said = results.map((page) => (page.ok ? "parsed" : page.reason));
    assert.deepEqual([...new Set(said)].sort(), ["busy", "parsed"]);
    assert.ok(said.filter((each) => each === "parsed").length >= 4);
  } finally {
    await own.close();
  }
});
