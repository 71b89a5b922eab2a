// Which entries does a pass over the tags find, before anything is resolved?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readXml, type XmlEntry } from "../../../core/sitemap/xml.ts";

function read(chunks: string[]): { kind: string | undefined; entries: XmlEntry[] } {
  const entries: XmlEntry[] = [];
  const kind = readXml(chunks, (entry) => entries.push(entry));
  return { kind, entries };
}

test("the root says what the document is", () => {
  const rows: [string, string | undefined][] = [
    ["<urlset/>", "urls"],
    ["<sitemapindex/>", "index"],
    ["<rss/>", "urls"],
    ['<rdf:RDF xmlns:rdf="x"/>', "urls"],
    ["<feed/>", "urls"],
    ["<!DOCTYPE urlset><urlset/>", "urls"],
    ["<html/>", undefined],
    ["<constructor/>", undefined],
    ["<?xml version='1.0'?>", undefined],
  ];
  for (const [text, kind] of rows) assert.equal(read([text]).kind, kind, text);
});

test("broken files give what they plainly mean", () => {
  const rows: [situation: string, text: string, locations: string[][]][] = [
    [
      "several locations in one entry",
      "<sitemapindex><sitemap><loc>/a</loc><loc>/b</loc></sitemap></sitemapindex>",
      [["/a", "/b"]],
    ],
    [
      "a URL without its element",
      "<sitemapindex><sitemap> https://h.example/a </sitemap></sitemapindex>",
      [["https://h.example/a"]],
    ],
    ["an element inside the location", "<urlset><url><loc><url>/a</url></loc></url></urlset>", [["/a"]]],
    ["an entry without location", "<urlset><url><lastmod>2027</lastmod></url></urlset>", [[]]],
    ["a location outside an entry", "<urlset><loc>/a</loc></urlset>", []],
    ["closing tags that nothing opened", "<urlset></url></loc><url><loc>/a</loc></url></url></urlset>", [["/a"]]],
  ];
  for (const [situation, text, locations] of rows)
    assert.deepEqual(
      read([text]).entries.map((one) => one.locations),
      locations,
      situation,
    );
});

test("byte by byte gives what the whole gives", () => {
  const texts = [
    '<?xml version="1.0"?><urlset><url><loc>/a?b&amp;c&#x41;</loc><lastmod>2027-01-01</lastmod><priority>.5</priority></url></urlset>',
    "<rss><channel><item><link><![CDATA[/a]]></link><pubDate>Fri, 01 Jan 2027 00:00:00 GMT</pubDate></item></channel></rss>",
    '<feed><entry><link rel="alternate" href="/a?b&amp;c"/><updated>2027-01-01</updated></entry></feed>',
    "<urlset><url><loc>/a</loc></url><url><loc>/b</lo",
  ];
  for (const text of texts) {
    const whole = read([text]);
    assert.ok(whole.entries.length > 0);
    assert.deepEqual(read([...text]), whole);
    fc.assert(
      fc.property(fc.nat(text.length), (at) => assert.deepEqual(read([text.slice(0, at), text.slice(at)]), whole)),
      { numRuns: 20 },
    );
  }
});
