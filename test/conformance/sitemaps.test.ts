// Do sitemaps, feeds and lists of URLs give what the reference reads in them? sitemaps.org, RSS 2.0, RFC 4287.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type ParsedSitemap, parseSitemap, type SitemapOptions } from "../../core/sitemap/parse.ts";
import { limits } from "../../schemas/limits.ts";
import { conformance } from "./lib.ts";

interface SitemapCase {
  i: number;
  file: string;
  url: string;
  contentType: string | null;
  options: { strictLocation: boolean };
  expected: { error?: true; type?: string; urls?: Listed[]; sitemaps?: Listed[] };
}
interface Listed {
  loc: string;
  lastmod: string | null;
  priority?: number;
}

conformance({
  name: "sitemaps, RSS, Atom, text: crawler-commons",
  files: ["sitemaps"],
  cases: 29,
  justified: {
    "18 testSitemapParserBrokenXml-fc017c97.xml":
      "Its second entry is whole, and its fault, a stray closing tag, behind it; decision: what is whole is kept, as of a file that breaks off",
    "46 sitemap.badns.xml":
      "An old namespace of one search engine; decision: names are looked at, namespaces are not, which the reference does too unless told to be strict",
  },
  judge(data, check) {
    for (const one of data.json<SitemapCase[]>("sitemaps/index.json")) {
      const bytes = data.bytes(`sitemaps/${one.file}`);
      check(`${one.i} ${one.file}`, () => told(parsed(one, bytes)), wanted(one));
    }
  },
});

function parsed({ url, contentType, options, expected }: SitemapCase, bytes: Buffer): ParsedSitemap {
  const ours: SitemapOptions = {
    // The reference takes any host where it is not strict, and in an index always.
    allowHosts: [...(expected.urls ?? []), ...(expected.sitemaps ?? [])].map(({ loc }) => new URL(loc).hostname),
    ownFolder: options.strictLocation,
  };
  const first = parseSitemap(bytes, url, contentType ?? "", ours);
  return first.kind === "gzip" ? parseSitemap(gunzipSync(bytes), url, contentType ?? "", ours) : first;
}

type Told = "error" | { kind: string; entries: [url: string, lastModifiedMs: number | null, priority: number][] };

function told(found: ParsedSitemap): Told {
  if (found.kind === "urls")
    return { kind: "urls", entries: found.entries.map((one) => [one.url, one.lastModifiedMs ?? null, one.priority ?? 0.5]) };
  if (found.kind === "index")
    return { kind: "index", entries: found.sitemaps.map((one) => [one.url, one.lastModifiedMs ?? null, 0.5]) };
  return "error";
}

function wanted({ expected }: SitemapCase): Told {
  if (expected.error) return "error";
  const at = (lastmod: string | null) => (lastmod === null ? null : Date.parse(lastmod));
  return {
    kind: expected.type === "index" ? "index" : "urls",
    entries: (expected.urls ?? expected.sitemaps ?? []).map((one) => [one.loc, at(one.lastmod), one.priority ?? 0.5]),
  };
}

/** What reading may take beyond the bytes: measured 12 MB by streaming, of which the URLs are most, and 57 MB with the text in one piece. */
const GROWTH_MB = 32;

test(`fifty thousand URLs in as many megabytes as a sitemap may have are read with ${GROWTH_MB} MB more`, () => {
  const module = JSON.stringify(new URL("../../core/sitemap/parse.ts", import.meta.url).href);
  const program = `
    const { parseSitemap } = await import(${module});
    const entry = (index) => "<url><loc>https://h.example/" + String(index).padStart(40, "0") + "</loc><!--" + "x".repeat(900) + "--></url>\\n";
    const bytes = Buffer.allocUnsafeSlow(${limits.sitemapBytes});
    let end = bytes.write("<urlset>");
    for (let index = 0; index < ${limits.sitemapUrls}; index++) end += bytes.write(entry(index), end);
    const before = process.resourceUsage().maxRSS;
    const { kind, entries, dropped } = parseSitemap(bytes.subarray(0, end), "https://h.example/s.xml", "text/xml");
    const growthKib = process.resourceUsage().maxRSS - before;
    console.log(JSON.stringify({ read: [kind, entries.length, dropped], growthKib }));`;
  // A small young generation, so that garbage is not taken for memory in use.
  const args = ["--max-semi-space-size=1", "--max-old-space-size=24", "--input-type=module", "-e", program];
  const out = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 60_000, stdio: ["ignore", "pipe", "pipe"] });
  const { read, growthKib } = JSON.parse(out);
  assert.deepEqual(read, ["urls", limits.sitemapUrls, 0]);
  assert.ok(growthKib < GROWTH_MB * 1024, `${growthKib} KiB`);
});
