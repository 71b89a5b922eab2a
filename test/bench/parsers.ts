// How fast are the parsers? Robots files and verdicts a second, megabytes of sitemaps and of pages a second, beside what the crawl needs.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parsePage } from "../../core/html/page.ts";
import { scanMarkup } from "../../core/html/scan.ts";
import { robotsVerdict } from "../../core/robots/match.ts";
import { parseRobots } from "../../core/robots/parse.ts";
import { parseSitemap } from "../../core/sitemap/parse.ts";
import { limits } from "../../schemas/limits.ts";
import { SHARED_DATA } from "../conformance/lib.ts";

const SECONDS = 2;
const MEGABYTE = 1e6;
const WHAT_CHARS = 60;

interface Measure {
  what: string;
  unit: string;
  /** How many units one call of `run` is. */
  units: number;
  run(): void;
  /** What the design's 11,574 fetches a second ask of all workers together. */
  needed?: string;
}

export async function benchParsers(): Promise<void> {
  for (const measure of [...robotsMeasures(), sitemapMeasure(), ...pageMeasures()]) {
    const perSecond = rateOf(measure);
    const figure = perSecond.toLocaleString("en", { maximumSignificantDigits: 3 });
    const needed = measure.needed === undefined ? "" : `; needed of all: ${measure.needed}`;
    process.stdout.write(`${measure.what.padEnd(WHAT_CHARS)} ${figure.padStart(9)} ${measure.unit}/s on one core${needed}\n`);
  }
}

/** The best of several rounds: on a shared machine the others say how busy it was. */
function rateOf({ units, run }: Measure): number {
  run();
  let best = 0;
  for (const endAt = performance.now() + SECONDS * 1000; performance.now() < endAt; ) {
    const startedAt = performance.now();
    run();
    best = Math.max(best, (units * 1000) / (performance.now() - startedAt));
  }
  return best;
}

interface RobotsFile {
  host: string;
  bytes: Buffer;
  probes: { agent: string; url: string }[];
}

function robotsMeasures(): Measure[] {
  const files = robotsFiles();
  const asked = files.map(({ bytes, host, probes }) => ({
    rules: parseRobots(bytes, "ExampleBot"),
    urls: probes.map(({ url }) => new URL(url, `https://${host}/`).href),
  }));
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const what = `robots.txt, ${files.length} of ${(total / files.length / 1000).toFixed(1)} KB on average`;
  return [
    {
      what,
      unit: "files",
      units: files.length,
      run: () => {
        for (const { bytes } of files) parseRobots(bytes, "ExampleBot");
      },
    },
    {
      what: "verdicts on their URLs",
      unit: "URLs",
      units: asked.reduce((sum, { urls }) => sum + urls.length, 0),
      run: () => {
        for (const { rules, urls } of asked) for (const url of urls) robotsVerdict(rules, url);
      },
      needed: "23,000 (each judged at its turn and at its admit)",
    },
  ];
}

/** Those of real hosts, or one made up where the shared data is absent. */
function robotsFiles(): RobotsFile[] {
  const path = join(SHARED_DATA, "robots-real.ndjson.gz");
  if (!existsSync(path)) {
    process.stdout.write(`${path} is not there: a robots.txt of our own stands in\n`);
    const rules = Array.from({ length: 60 }, (_, index) => `Disallow: /area${index}/*/print$\nAllow: /area${index}/open`);
    const probes = ["/", "/area7/x/print", "/area59/open/y?z"].map((url) => ({ agent: "ExampleBot", url }));
    return [{ host: "example.org", bytes: Buffer.from(`User-agent: *\n${rules.join("\n")}`), probes }];
  }
  const lines = gunzipSync(readFileSync(path)).toString().trim().split("\n");
  return lines.map((line) => {
    const { host, robots, robotsB64, probes } = JSON.parse(line);
    return { host, bytes: robotsB64 === undefined ? Buffer.from(robots) : Buffer.from(robotsB64, "base64"), probes };
  });
}

function sitemapMeasure(): Measure {
  const entry = (index: number) =>
    `<url><loc>https://example.org/shelf/${index % 97}/thing-${index}?view=a&amp;page=2</loc><lastmod>2027-03-04T05:06:07+00:00</lastmod><priority>0.5</priority></url>\n`;
  const entries = Array.from({ length: limits.sitemapUrls }, (_, index) => entry(index)).join("");
  const bytes = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n<urlset>${entries}</urlset>`);
  return {
    what: `sitemap of ${limits.sitemapUrls.toLocaleString("en")} URLs, ${(bytes.length / MEGABYTE).toFixed(1)} MB`,
    unit: "MB",
    units: bytes.length / MEGABYTE,
    run: () => void parseSitemap(bytes, "https://example.org/s.xml", "text/xml"),
  };
}

interface Page {
  url: string;
  bytes: Buffer;
}

function pageMeasures(): Measure[] {
  const pages = realPages();
  const megabytes = pages.reduce((sum, { bytes }) => sum + bytes.length, 0) / MEGABYTE;
  const texts = pages.map(({ bytes }) => bytes.toString());
  const size = `${pages.length} pages, ${megabytes.toFixed(1)} MB`;
  const request = (document: boolean) => ({
    contentType: "text/html; charset=utf-8",
    robotsTags: [],
    productToken: "OurBot",
    document,
  });
  const parsed = (document: boolean) => () => {
    for (const { url, bytes } of pages) parsePage({ url, bytes, ...request(document) });
  };
  const needed = "2,300 (pages of 200 KB)";
  const scan = () => {
    for (const text of texts) scanMarkup(text, { xml: false, productToken: "OurBot" });
  };
  return [
    { what: `markup scanned for links and text, ${size}`, unit: "MB", units: megabytes, run: scan, needed },
    { what: "links, metadata and SimHash", unit: "MB", units: megabytes, run: parsed(false), needed },
    { what: "the same, and the document", unit: "MB", units: megabytes, run: parsed(true), needed },
  ];
}

function realPages(): Page[] {
  const path = join(SHARED_DATA, "html/index.json");
  if (existsSync(path)) {
    const index: { file: string; url: string }[] = JSON.parse(readFileSync(path, "utf8"));
    return index.map(({ file, url }) => ({ url, bytes: readFileSync(join(SHARED_DATA, "html", file)) }));
  }
  process.stdout.write(`${path} is not there: a page of our own stands in\n`);
  const rows = Array.from(
    { length: 300 },
    (_, index) => `<li class="row"><a href="/thing/${index}">Thing ${index}</a><p>of the shelf</p>`,
  );
  return [{ url: "https://example.org/", bytes: Buffer.from(`<title>Shelf</title><ul>${rows.join("\n")}</ul>`) }];
}
