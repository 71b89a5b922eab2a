// Are the links of a page those that a browser would follow, each once and in order?
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { baseOf } from "../../../core/html/links.ts";
import { scanMarkup } from "../../../core/html/scan.ts";
import { limits } from "../../../schemas/limits.ts";
import { sharedBytes, sharedCases, tally } from "../robots/shared-data.ts";
import { pageOf } from "./page-of.ts";

const rows: [situation: string, markup: string, links: string[]][] = [
  ["a and area are links, img and link are not", `<a href=a><area href=b><img src=c><link href=d>`, ["/d/a", "/d/b"]],
  ["each URL stands once, where it came first", `<a href=b><a href=a><a href="b#x"><a href="./b">`, ["/d/b", "/d/a"]],
  ["a base moves links before and after it", `<a href=a></a><base href="/x/"><a href=b>`, ["/x/a", "/x/b"]],
  ["only the first base counts", `<base href="/x/"><base href="/y/"><a href=a>`, ["/x/a"]],
  ["a base without href is none", `<base target=_top><base href="/y/"><a href=a>`, ["/y/a"]],
  [
    "a base that is a file name does not lose the query's path (L2)",
    `<base href="me.html"><a href="?k=v">`,
    ["/d/me.html?k=v"],
  ],
  ["a base that is no URL is ignored (L4)", `<base href="//"><base href="/y/"><a href=a>`, ["/d/a"]],
  ["a base that runs a script is ignored", `<base href="javascript:void 0"><a href=a>`, ["/d/a"]],
  ["a base of many-byte characters resolves (L12)", `<base href="/漢字/é"><a href="ü">`, ["/%E6%BC%A2%E5%AD%97/%C3%BC"]],
  [
    "a base inside a comment or script is none",
    `<!-- <base href="/x/"> --><script><base href="/y/"></script><a href=a>`,
    ["/d/a"],
  ],
  ["a name without scheme is a path (L6)", `<a href="www.other.test">`, ["/d/www.other.test"]],
  ["entities in a href are decoded", `<a href="?a=1&amp;b=2&copy=3">`, ["/d/me.html?a=1&b=2&copy=3"]],
  [
    "links in comments, scripts, templates and frames are none",
    `<!-- <a href=a> --><script>"<a href=b>"</script><template><a href=c></template><iframe><a href=e></iframe><a href=f>`,
    ["/d/f"],
  ],
  ["a script that closes itself still holds what follows", `<script src=x />"<a href=a>"</script><a href=b>`, ["/d/b"]],
  ["a noscript's links are links", `<noscript><a href=a></noscript>`, ["/d/a"]],
  [
    "a template inside a template ends with the outer one",
    `<template><template></template><a href=a></template><a href=b>`,
    ["/d/b"],
  ],
  ["unclosed tags lose nothing", `<div><p><a href=a><b><td><a href=b>`, ["/d/a", "/d/b"]],
  ["an unfinished tag at the end is none", `<a href=a></a><a href="b`, ["/d/a"]],
  ["a blank before a fragment belongs to the path", `<a href="b #x">`, ["/d/b%20"]],
  ["names are read in any case", `<A HREF=a>`, ["/d/a"]],
  ["a link in svg is one", `<svg><a href=a /><title><a href=b></title></svg><a href=c>`, ["/d/a", "/d/c"]],
];

for (const [situation, markup, links] of rows)
  test(situation, () => {
    const found = pageOf(markup).links.map((link) => link.replace("http://example.org", ""));
    assert.deepEqual(found, links);
  });

test("links left out are counted by reason, each href once", () => {
  const { links, refused } = pageOf(
    `<a href="mailto:a@h"><a href="mailto:a@h"><a href="http://[">
     <a href=a rel="ugc nofollow"><a href=a rel=nofollow><a href=b rel=nofollow><a href=b><a href="/${"x".repeat(3000)}">`,
  );
  assert.deepEqual(links, ["http://example.org/d/b"]);
  assert.deepEqual(refused, { scheme: 1, malformed: 2, nofollow: 1, fanOut: 0 });
});

test("an attribute over the limit is ignored whole, never cut (L8)", () => {
  const long = `http://example.org/${"x".repeat(limits.attributeChars)}`;
  const { links, refused } = pageOf(`<a href="${long}"></a><a href="/ok"></a><a href="${long}" href="/second"></a>`);
  assert.deepEqual(links, ["http://example.org/ok", "http://example.org/second"]);
  assert.equal(refused.malformed, 2);
});

test("the limit counts distinct links: repeats do not push a new one out (F5)", () => {
  const repeats = `<a href=self></a>`.repeat(limits.linksPerPage + 10);
  const anchors = Array.from({ length: limits.linksPerPage + 10 }, (_, index) => `<a href="self#${index}"></a>`).join("");
  const { links, refused } = pageOf(`${repeats}${anchors}<a href=new></a>`);
  assert.deepEqual(links, ["http://example.org/d/self", "http://example.org/d/new"]);
  assert.equal(refused.fanOut, 0);
});

test("of fifty thousand links the limit is kept and the rest counted", () => {
  const count = 50_000;
  const markup = Array.from({ length: count }, (_, index) => `<a href="/${index}">`).join("");
  const { links, refused } = pageOf(`${markup}<a href="/x/../1">`);
  assert.equal(links.length, limits.linksPerPage);
  assert.equal(links[1], "http://example.org/1");
  assert.equal(refused.fanOut, count - limits.linksPerPage);
});

interface LinksOfFile {
  file: string;
  url: string;
  links: string[];
  nofollow?: string[];
}

test("yardstick: the links of 81 real pages are jsdom's, in order", (t) => {
  const packed = sharedBytes(t, "html/links.ndjson.gz");
  if (packed === undefined) return;
  const files: LinksOfFile[] = gunzipSync(packed)
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  // Compared before RFC 3986 normalisation, which spells escapes otherwise than jsdom: hrefs resolved by the WHATWG parser alone.
  tally(
    t,
    files,
    ({ file, url, links, nofollow = [] }) => {
      const scan = scanMarkup(sharedBytes(t, `html/${file}`)?.toString() ?? "", { xml: false, productToken: "OurBot" });
      const base = baseOf(scan, url);
      const found = new Map<string, boolean>();
      for (const [href, follow] of scan.hrefs) {
        const target = webUrl(href, base);
        if (target !== undefined) found.set(target, follow || found.get(target) === true);
      }
      const unfollowed = [...found].filter(([, follow]) => !follow).map(([target]) => target);
      return equal([...found.keys()], links) && equal(unfollowed.sort(), nofollow.toSorted());
    },
    {},
    ({ file }) => file,
  );
});

function webUrl(href: string, base: string): string | undefined {
  const url = URL.parse(href, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href.replace(/#.*$/s, "") : undefined;
}

function equal(one: string[], other: string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface LinkCase {
  kind: string;
  test?: string;
  html: string;
  htmlB64?: string;
  encoding?: string;
  url?: string;
  options?: Record<string, unknown>;
  expected: unknown;
}

function casesOf(t: Parameters<typeof sharedCases>[0], kind: string): LinkCase[] {
  return sharedCases<LinkCase>(t, "links.json").filter((one) => one.kind === kind);
}

const contentOf = ({ html, htmlB64 }: LinkCase) =>
  htmlB64 === undefined ? html : Buffer.from(htmlB64, "base64").toString("utf8");

test("yardstick: base URLs", (t) => {
  const cases = casesOf(t, "base-url").filter(({ url }) => url !== undefined);
  tally(t, cases, (one) => {
    const base = baseOf(scanMarkup(contentOf(one), { xml: false, productToken: "OurBot" }), one.url ?? "");
    return URL.parse(base)?.href === URL.parse(one.expected as string)?.href;
  });
});

test("yardstick: meta refresh, as a page without scripts in mind is read", (t) => {
  const cases = casesOf(t, "meta-refresh").filter(({ options }) => options === undefined);
  const known = {
    "a tag that never ends is none": `<meta http-equiv="refresh" content="5;url=newpage"`,
    "the page's encoding is not used for queries": "latin1 query",
  };
  const nameOf = (one: LinkCase) => (one.test?.endsWith("latin1_query") ? "latin1 query" : one.html);
  const expectedFaults = Object.fromEntries(Object.entries(known).map(([reason, name]) => [name, reason]));
  tally(
    t,
    cases,
    (one) => {
      const contentType = `text/html; charset=${one.encoding ?? "utf-8"}`;
      const bytes = one.htmlB64 === undefined ? Buffer.from(one.html) : Buffer.from(one.htmlB64, "base64");
      const { refresh } = pageOf(bytes, { url: one.url ?? "", contentType });
      return (refresh ?? null) === (one.expected as [number, string | null])[1];
    },
    expectedFaults,
    nameOf,
  );
});

test("yardstick: meta robots", (t) => {
  tally(t, casesOf(t, "meta-robots"), (one) => {
    const { noindex, nofollow } = pageOf(one.html);
    const expected = one.expected as { noindex: boolean; nofollow: boolean };
    return noindex === expected.noindex && nofollow === expected.nofollow;
  });
});

test("yardstick: anchors as Nutch finds them, but for frames, images, forms and media", (t) => {
  const cases = casesOf(t, "outlinks").filter(({ html }) => !/<(?:i?frame|img|form|video|source)/.test(html));
  tally(t, cases, (one) => {
    const targets = (one.expected as { url: string }[]).map(({ url }) => webUrl(url, one.url ?? "") ?? "");
    return equal(pageOf(one.html, { url: one.url ?? "" }).links, [...new Set(targets)]);
  });
});
