// Fuzzed: markup, encodings, MIME types, robots' wishes, sitemaps, WARC records, texts. What a server sends, we read.
import assert from "node:assert/strict";
import fc from "fast-check";
import { hammingDistance, simHash } from "../../core/content/simhash.ts";
import { decodeMarkup, decodePlain } from "../../core/html/charset.ts";
import { parsePage } from "../../core/html/page.ts";
import { withEncodedQuery } from "../../core/html/query-encoding.ts";
import { typeOf } from "../../core/html/sniff.ts";
import { bodyClass, parseContentType } from "../../core/http/content-type.ts";
import { maxAgeMs } from "../../core/http/max-age.ts";
import { metaDirectives, robotsDirectives } from "../../core/http/robots-tag.ts";
import { decodeChunks } from "../../core/sitemap/decode.ts";
import { parseSitemap } from "../../core/sitemap/parse.ts";
import { readXml, type XmlEntry } from "../../core/sitemap/xml.ts";
import { cdxjLine, cdxjPlace, fieldsOf } from "../../core/warc/cdxj.ts";
import { parseWarcRecord } from "../../core/warc/read.ts";
import { surt } from "../../core/warc/surt.ts";
import { limits } from "../../schemas/limits.ts";
import type { ParsedDocument } from "../../schemas/parsed-page.ts";
import { type FuzzedParser, fuzzed } from "./fuzz.ts";

const anyText = fc.string({ unit: "binary", maxLength: 60 });

/** Text of pieces that mean something, in any order: most of it gets past the first gate. */
const of = (...pieces: string[]) =>
  fc
    .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...pieces) }, anyText), { maxLength: 60 })
    .map((parts) => parts.join(""));

const markupText = of(
  ...`<a href=|<area href=|<base href=|<link rel=canonical href=|<meta name=robots content=|<meta http-equiv=refresh content=|"|'|>|<|/|</|<!--|-->|<svg>|</svg>|<title>|</title>|&amp;|&#x|&|<template>|</template>|<script>|</script>|<noscript>|</noscript>|<table><td>|<main>|<article>|<h1>|<nav>|</nav>|<p hidden>|</p>|<li role=menu>|</div>|<head>|<script type=application/ld+json>|[1]|text |=|<![CDATA[|]]>|<?xml |0;url=|nofollow|rel=|http://h.example/|//|?é|\0|é|漢`.split(
    "|",
  ),
  "|",
);

const pageBytes = fc.oneof(
  markupText.map((text) => Buffer.from(text)),
  markupText.map((text) => Buffer.from(text, "latin1")),
  markupText.map((text) => Buffer.from(text, "utf16le")),
  fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
);

const header = of(
  ...'text/html|application/xhtml+xml|text/plain|text/xml|;|charset=|utf-8|windows-1251|gbk|"|\\|,| |*/*|/'.split("|"),
);

const page = fuzzed("page", fc.tuple(pageBytes, header, anyText), ([bytes, contentType, url]) => {
  const request = { url, bytes, contentType, robotsTags: [], productToken: "OurBot", document: true };
  const parsed = parsePage(request);
  assert.ok(parsed.ok && parsed.links.length <= limits.linksPerPage && parsed.title.length <= limits.titleChars);
  assert.equal(new Set(parsed.links).size, parsed.links.length);
  for (const link of parsed.links) assert.match(link, /^https?:\/\/[^#]+$/);
  const { document, ...rest } = parsed;
  if (document !== undefined) judgeDocument(document);
  assert.deepEqual(parsePage({ ...request, document: false }), rest);
  assert.deepEqual(parsePage({ ...request, bytes: new Uint8Array(bytes) }), parsed);
});

function judgeDocument({ text, headings, structuredData }: ParsedDocument): void {
  assert.ok(text.length <= limits.textChars && headings.length <= limits.headings);
  for (const heading of headings) assert.ok(heading.level >= 1 && heading.level <= 6 && heading.text.trim() !== "");
  for (const data of structuredData) JSON.parse(data);
}

const charsetText = of(
  ..."<meta |charset=|http-equiv=content-type |content='text/html; charset=|utf-8|koi8-r|x-user-defined|utf-16|hz-gb-2312|'|\"|>|<!--|-->|</a |<?xml encoding=|<script>|</script>|<title|/|\0|é|þÿ|ÿþ|ï»¿|x".split(
    "|",
  ),
  " ".repeat(1000),
);

const charset = fuzzed("charset", fc.tuple(charsetText, fc.option(anyText, { nil: undefined })), ([text, transport]) => {
  const bytes = Buffer.from(text, "latin1");
  for (const decode of [decodeMarkup, decodePlain]) {
    const found = decode(bytes, transport);
    assert.equal(new TextDecoder(found.charset).encoding, found.charset);
    assert.ok(found.text.length <= 3 * bytes.length);
  }
});

const names = [
  "utf-8",
  "windows-1251",
  "gbk",
  "gb18030",
  "big5",
  "shift_jis",
  "euc-jp",
  "euc-kr",
  "iso-2022-jp",
  "x-user-defined",
];

const queryEncoding = fuzzed(
  "query-encoding",
  fc.tuple(of(..."?|#|é|中|Ж|ソ|😀|%|&|=|\ud800".split("|")), fc.constantFrom(...names)),
  ([href, encoding]) => {
    const encoded = withEncodedQuery(href, encoding);
    assert.ok(encoded.length <= 20 * href.length);
    assert.equal(encoded.split(/[?#]/, 1)[0], href.split(/[?#]/, 1)[0]);
    assert.equal(withEncodedQuery(encoded, encoding), encoded);
  },
);

const contentType = fuzzed("content-type", fc.tuple(fc.oneof(header, anyText), pageBytes), ([value, bytes]) => {
  const { type, charset: label } = parseContentType(value);
  assert.ok(type.length + (label?.length ?? 0) <= value.length);
  assert.match(type, /^$|^[^\s/]+\/[^\s/]+$/);
  bodyClass(typeOf(bytes, type, value), "http://h.example/", ["image/*"]);
  const seconds = maxAgeMs(value.replaceAll("charset", "max-age"));
  assert.ok(seconds === undefined || (seconds >= 0 && Number.isSafeInteger(seconds)));
});

const wish = of(..."noindex|nofollow|none|all|NOINDEX|ourbot|otherbot|unavailable_after|*|robots|:|,|;| |\t|25 Jun".split("|"));

const robotsTag = fuzzed("robots-tag", fc.array(wish, { maxLength: 4 }), (values) => {
  const together = robotsDirectives(values, "OurBot");
  const each = values.map((value) => robotsDirectives([value], "ourbot"));
  assert.deepEqual(together, { noindex: each.some((one) => one.noindex), nofollow: each.some((one) => one.nofollow) });
  for (const value of values) if (metaDirectives(value).noindex) assert.match(value, /noindex|none/i);
});

const sitemapText = of(
  ...`<urlset>|</urlset>|<sitemapindex>|<sitemap>|</sitemap>|<url>|</url>|<loc>|</loc>|http://h.example/|/a|http://b.example/|<lastmod>|</lastmod>|2027-03-04|<priority>|0.5|</priority>|<rss>|<item>|</item>|<link>|</link>|<guid>|<feed>|<entry>|<link href="|"/>|<![CDATA[|]]>|<!--|-->|&amp;|&x;|<!DOCTYPE x [|<?xml?>|é|\n`.split(
    "|",
  ),
);
const roots = fc.constantFrom(
  "",
  "<urlset>",
  "<sitemapindex>",
  "<rss><channel>",
  "<feed>",
  "\ufeff\n<urlset>",
  "http://h.example/\n",
);

const sitemap = fuzzed("sitemap", fc.tuple(roots, sitemapText, fc.nat()), ([root, rest, cut]) => {
  const text = root + rest;
  const parsed = parseSitemap(Buffer.from(text), "http://h.example/s.xml", "text/xml");
  const entries = parsed.kind === "urls" ? parsed.entries : parsed.kind === "index" ? parsed.sitemaps : [];
  assert.ok(entries.length <= text.length / 2);
  for (const { url } of entries) assert.equal(new URL(url).hostname, "h.example");
  // Whole, in two and character by character: the same.
  const at = cut % (text.length + 1);
  const whole = entriesOf([text]);
  assert.deepEqual(entriesOf([text.slice(0, at), text.slice(at)]), whole);
  assert.deepEqual(entriesOf([...text]), whole);
});

function entriesOf(chunks: readonly string[]): unknown {
  const entries: XmlEntry[] = [];
  const kind = readXml(
    chunks.filter((chunk) => chunk !== ""),
    (entry) => void entries.push(entry),
  );
  return { kind, entries };
}

const sitemapBytes = fuzzed("sitemap-bytes", fc.tuple(pageBytes, header, anyText), ([bytes, type, url]) => {
  parseSitemap(bytes, url, type);
  assert.ok([...decodeChunks(bytes, type)].every((chunk) => chunk !== ""));
});

const warcText = of(
  ..."WARC/1.1\r\n|WARC/1.0\n|WARC-Type: response\r\n|WARC-Target-URI: http://h.example/\r\n|WARC-Date: 2027-03-04T00:00:00Z\r\n|Content-Type: application/http\r\n|Content-Length: |0|5|99|\r\n|\r\n\r\n|HTTP/1.1 200 OK\r\n|: |\t|é|\0".split(
    "|",
  ),
);

const warc = fuzzed(
  "warc",
  fc.tuple(
    fc.oneof(
      warcText,
      warcText.map((text) => `WARC/1.1\r\n${text}`),
    ),
    fc.nat(99),
  ),
  ([text, from]) => {
    const bytes = Buffer.from(text, "latin1");
    for (const at of [0, from]) {
      const record = parseWarcRecord(bytes, at);
      if (!record.ok) continue;
      assert.ok(record.end > at && record.end <= bytes.length && record.block.length <= bytes.length);
      const fields = fieldsOf(record);
      if (fields !== undefined)
        assert.notEqual(cdxjPlace(cdxjLine(fields, { segment: "s", offset: 1, length: 2 }).trimEnd()), undefined);
    }
  },
);

const surtKey = fuzzed(
  "surt",
  of(..."http://|https|:|//|www.|h.example|:80|/|..|.|?|&|=|%25|%|#|@|[|]|é|;jsessionid=".split("|")),
  (url) => {
    assert.match(surt(url), /^[!-~]*$/);
    cdxjPlace(url);
  },
);

const text = fuzzed("simhash", fc.tuple(of(..."a |bc |é|漢|字| |\n|-|😀|\ud800".split("|")), anyText), ([one, other]) => {
  assert.match(simHash(one), /^[0-9a-f]{16}$/);
  assert.equal(simHash(one.toUpperCase().toLowerCase()), simHash(one.toUpperCase()));
  assert.equal(hammingDistance(simHash(one), simHash(` ${one}\n`)), 0);
  assert.ok(hammingDistance(simHash(one), simHash(other)) <= 64);
});

export const contentParsers: readonly FuzzedParser[] = [
  page,
  charset,
  queryEncoding,
  contentType,
  robotsTag,
  sitemap,
  sitemapBytes,
  warc,
  surtKey,
  text,
];
