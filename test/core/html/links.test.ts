// Are the links of a page those that a browser would follow, each once and in order?
import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../../../schemas/limits.ts";
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
