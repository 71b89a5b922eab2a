// Which URLs come out of a sitemap, whatever its form, its faults and its host? sitemaps.org's protocol, RSS 2.0, Atom (RFC 4287).
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { type ParsedSitemap, parseSitemap } from "../../../core/sitemap/parse.ts";
import { limits } from "../../../schemas/limits.ts";

const URL_OF = "https://h.example/maps/s.xml";
const parse = (text: string | Uint8Array, contentType = "application/xml") =>
  parseSitemap(typeof text === "string" ? Buffer.from(text) : text, URL_OF, contentType);
const urlset = (inner: string) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${inner}</urlset>`;
const entry = (path: string) => `<url><loc>https://h.example${path}</loc></url>`;
const urls = (parsed: ParsedSitemap): string[] => {
  assert.ok(parsed.kind === "urls" || parsed.kind === "index", JSON.stringify(parsed));
  return (parsed.kind === "urls" ? parsed.entries : parsed.sitemaps).map((one) => one.url.replace("https://h.example", ""));
};
const NOT = { kind: "error", reason: "not-a-sitemap" };

test("an entry gives URL, date and priority", () => {
  const text = urlset(
    "<url><loc> https://h.example/a?b&amp;c=&#x64; </loc><lastmod>2027-03-04</lastmod><priority>0.7</priority></url>",
  );
  const expected = { url: "https://h.example/a?b&c=d", lastModifiedMs: Date.UTC(2027, 2, 4), priority: 0.7 };
  assert.deepEqual(parse(text), { kind: "urls", entries: [expected], dropped: 0 });
});

test("an index gives its sitemaps, each once, itself left out (S7)", () => {
  const one = (path: string) => `<sitemap><loc>https://h.example${path}</loc><lastmod>2027-01-01</lastmod></sitemap>`;
  const text = `<sitemapindex>${one("/1.xml")}${one("/1.xml")}${one("/1.xml")}${one("/maps/s.xml")}${one("/2.xml")}</sitemapindex>`;
  const at = Date.UTC(2027, 0, 1);
  const sitemaps = ["/1.xml", "/2.xml"].map((path) => ({ url: `https://h.example${path}`, lastModifiedMs: at }));
  assert.deepEqual(parse(text), { kind: "index", sitemaps, dropped: 1 });
});

test("each shape of document gives its URLs", () => {
  const rows: [situation: string, text: string, expected: string[]][] = [
    ["blank lines before the declaration (S1)", `\n \n${urlset(entry("/a"))}`, ["/a"]],
    ["a prefix on every element", '<s:urlset xmlns:s="x"><s:url><s:loc>/a</s:loc></s:url></s:urlset>', ["/a"]],
    ["capitals in names", "<URLSET><URL><LOC>/a</LOC></URL></URLSET>", ["/a"]],
    ["CDATA", urlset("<url><loc><![CDATA[/a?b&c]]></loc></url>"), ["/a?b&c"]],
    [
      "an image's location is not the page's",
      urlset("<url><image:image><image:loc>/i.png</image:loc></image:image><loc>/a</loc></url>"),
      ["/a"],
    ],
    ["nor is one that stands beside it", urlset("<url><image:loc>/i.png</image:loc><loc>/a</loc></url>"), ["/a"]],
    ["a document that breaks off between entries", `<urlset>${entry("/a")}${entry("/b")}`, ["/a", "/b"]],
    ["one that breaks off inside a location", `<urlset>${entry("/a")}<url><loc>https://h.example/long-na`, ["/a"]],
    ["one that breaks off inside the end of a location", `<urlset><url><loc>/a</lo`, ["/a"]],
    ["an ampersand nobody escaped", urlset("<url><loc>/a?b=1&copy=2</loc></url>"), ["/a?b=1&copy=2"]],
    ["comments between", urlset(`<!-- <url><loc>/no</loc></url> -->${entry("/a")}`), ["/a"]],
    ["an RSS feed", "<rss><channel><link>/home</link><item><link>/a</link><guid>/g</guid></item></channel></rss>", ["/a"]],
    [
      "RSS items known by a permanent guid alone",
      "<rss><channel><item><guid>https://h.example/a</guid></item></channel></rss>",
      ["/a"],
    ],
    [
      "but not by another guid",
      '<rss><channel><item><guid isPermaLink="false">https://h.example/a</guid></item></channel></rss>',
      [],
    ],
    ["an Atom feed", '<feed><link href="/home"/><entry><link rel="self" href="/e"/><link href="/a"/></entry></feed>', ["/a"]],
    ["plain text", "https://h.example/a\r\n\r\nhttps://h.example/b\n", ["/a", "/b"]],
    ["an empty urlset", urlset(""), []],
    ["twice the same URL", urlset(entry("/a") + entry("/a#x")), ["/a"]],
  ];
  for (const [situation, text, expected] of rows) assert.deepEqual(urls(parse(text)), expected, situation);
});

test("feeds give their dates", () => {
  const rss = parse(
    "<rss><channel><item><link>/a</link><pubDate>Thu, 04 Mar 2027 01:00:00 +0100</pubDate></item></channel></rss>",
  );
  const atom = parse('<feed><entry><link href="/a"/><updated>2027-03-04T00:00:00Z</updated></entry></feed>');
  for (const parsed of [rss, atom])
    assert.equal(parsed.kind === "urls" && parsed.entries[0]?.lastModifiedMs, Date.UTC(2027, 2, 4));
});

test("an entry without location lends nothing to the next, nonsense counts as absent (S5, S9)", () => {
  const bare = "<url><lastmod>2027-01-01</lastmod><priority>0.9</priority></url>";
  const odd =
    "<url><loc>/b</loc><lastmod>soon</lastmod><priority>NaN</priority></url><url><loc>/c</loc><priority>1.1</priority></url>";
  const entries = ["/a", "/b", "/c"].map((path) => ({ url: `https://h.example${path}` }));
  assert.deepEqual(parse(urlset(bare + entry("/a") + odd)), { kind: "urls", entries, dropped: 1 });
});

test("of another host nothing is kept unless it is allowed; scheme and port may differ (S13)", () => {
  const text = urlset(
    ["http://h.example/a", "https://H.example:8443/b", "https://www.h.example/c", "https://other.example/d"]
      .map((loc) => `<url><loc>${loc}</loc></url>`)
      .join(""),
  );
  const own = parse(text);
  assert.deepEqual([urls(own), own.kind === "urls" && own.dropped], [["http://h.example/a", ":8443/b"], 2]);
  const more = parseSitemap(Buffer.from(text), URL_OF, "", { allowHosts: ["WWW.h.example"] });
  assert.deepEqual([urls(more).length, more.kind === "urls" && more.dropped], [3, 1]);
});

test("told to keep to its own folder, a urlset lists what lies there or below, an index as before", () => {
  const text = urlset(
    `${["/maps/a", "/maps/b/c", "/a", "/maps", "/mapsa"].map(entry).join("")}<url><loc>http://h.example/maps/d</loc></url>`,
  );
  const parsed = parseSitemap(Buffer.from(text), URL_OF, "", { ownFolder: true });
  assert.deepEqual([urls(parsed), parsed.kind === "urls" && parsed.dropped], [["/maps/a", "/maps/b/c"], 4]);
  const index = Buffer.from("<sitemapindex><sitemap><loc>https://h.example/1.xml</loc></sitemap></sitemapindex>");
  assert.deepEqual(urls(parseSitemap(index, URL_OF, "", { ownFolder: true })), ["/1.xml"]);
});

test("what is no web URL, or too long, is dropped and counted", () => {
  const long = `/${"x".repeat(limits.urlLength)}`;
  const bad = [
    "ftp://h.example/",
    "javascript:1",
    "mailto:a@h.example",
    "http://",
    long,
    `https://h.example/${" ".repeat(9)}${long}`,
  ];
  const parsed = parse(urlset(bad.map((loc) => `<url><loc>${loc}</loc></url>`).join("") + entry("/a")));
  assert.deepEqual(parsed, { kind: "urls", entries: [{ url: "https://h.example/a" }], dropped: bad.length });
});

test("blanks before a long location do not cut it into another", () => {
  const path = `/${"x".repeat(limits.urlLength - 100)}`;
  assert.deepEqual(urls(parse(urlset(`<url><loc>${" ".repeat(1000)}https://h.example${path}</loc></url>`))), [path]);
});

test("what is no sitemap says so", () => {
  const page = "<!DOCTYPE html><html><body><a href=/a>a</a></body></html>";
  for (const text of [page, "<html/>", "{}", "no sitemap at all", "<", "<?xml version='1.0'?>", "/a\n/b"])
    assert.deepEqual(parse(text), NOT, text);
  for (const text of ["", "\ufeff", " \n\t\r\n"]) assert.deepEqual(parse(text), { kind: "error", reason: "empty" });
});

test("a 404 page under a .gz name is a page, and gzip is left to others (S3)", () => {
  const url = "https://h.example/s.xml.gz";
  assert.deepEqual(parseSitemap(Buffer.from("<html>404</html>"), url, "application/gzip"), NOT);
  assert.deepEqual(parseSitemap(gzipSync(urlset("")), url, "text/xml"), { kind: "gzip" });
  assert.equal(parseSitemap(Buffer.from(urlset(entry("/a"))), url, "application/gzip").kind, "urls");
});

test("declared entities are not expanded, the document is refused", () => {
  const bomb = '<!DOCTYPE x [<!ENTITY a "https://h.example/"><!ENTITY b "&a;&a;&a;">]>';
  const external = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>';
  for (const type of [bomb, external])
    assert.deepEqual(parse(`<?xml version="1.0"?>${type}<urlset><url><loc>&b;</loc></url></urlset>`), NOT);
});

test("bytes are read in the encoding that they are in", () => {
  const text = urlset(entry("/ä"));
  const swapped = Buffer.from(`\ufeff${text}`, "utf16le").swap16();
  const rows: [situation: string, bytes: Uint8Array, contentType: string][] = [
    ["UTF-8", Buffer.from(text), ""],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${text}`), ""],
    ["UTF-16 little end first", Buffer.from(`\ufeff${text}`, "utf16le"), ""],
    ["UTF-16 big end first", swapped, ""],
    ["Latin-1 by header", Buffer.from(text, "latin1"), "text/xml; charset=ISO-8859-1"],
    ["Latin-1 by declaration", Buffer.from(text.replace("?>", ' encoding="latin1"?>'), "latin1"), "text/xml"],
    ["an unknown label", Buffer.from(text), "text/xml; charset=nonesuch"],
  ];
  for (const [situation, bytes, contentType] of rows) assert.deepEqual(urls(parse(bytes, contentType)), ["/%C3%A4"], situation);
});

test("beyond the limits entries are dropped and counted, bytes refused", () => {
  const many = Array.from({ length: limits.sitemapUrls + 3 }, (_, index) => entry(`/${index}`)).join("");
  const parsed = parse(urlset(many));
  assert.deepEqual([urls(parsed).length, parsed.kind === "urls" && parsed.dropped], [limits.sitemapUrls, 3]);
  assert.deepEqual(parse(new Uint8Array(limits.sitemapBytes + 1).fill(0x20)), { kind: "error", reason: "too-large" });
});

test("deep nesting ends the reading, and what came before is kept", () => {
  assert.deepEqual(urls(parse(`<urlset>${entry("/a")}${"<x>".repeat(100)}${"</x>".repeat(100)}${entry("/b")}</urlset>`)), [
    "/a",
  ]);
  assert.deepEqual(urls(parse(`<urlset>${entry("/a")}${"<x>".repeat(20_000)}${"</y>".repeat(20_000)}`)), ["/a"]);
});

const pieces = [
  "<urlset>",
  "<url>",
  "<loc>",
  "https://h.example/a",
  "</loc>",
  "</url>",
  "<lastmod>2027</lastmod>",
  "<![CDATA[",
  "]]>",
  "<!--",
  "-->",
  "&amp;",
  "&x;",
  "\0",
];

test("no bytes make it throw", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, url) => void parseSitemap(bytes, url, "")));
  fc.assert(fc.property(fc.array(fc.constantFrom(...pieces)), (parts) => void parse(`<urlset>${parts.join("")}`)));
});

test("cut anywhere, a sitemap gives the beginning of what it gives whole", () => {
  const whole = urlset(["/a", "/b?c&amp;d", "/é"].map(entry).join("\n"));
  const all = urls(parse(whole));
  for (let length = whole.indexOf("<urlset") + 9; length <= whole.length; length++) {
    const some = parse(whole.slice(0, length));
    if (some.kind === "urls") assert.deepEqual(urls(some), all.slice(0, some.entries.length), `${length} characters`);
  }
});

test("the size of the pieces that it is read in changes nothing", () => {
  const padded = (blanks: number) => urlset(`${" ".repeat(blanks)}${entry("/a&amp;b")}<url><loc><![CDATA[/é]]></loc></url>`);
  const expected = urls(parse(padded(0)));
  for (let blanks = 16 * 1024 - 260; blanks < 16 * 1024; blanks++) assert.deepEqual(urls(parse(padded(blanks))), expected);
});
