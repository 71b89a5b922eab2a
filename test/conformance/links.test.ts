// Are links, base, canonical, refresh and the robots' wishes read as browsers and other crawlers read them? HTML 4.6, 4.2.3, 4.2.5.3.
import { gunzipSync } from "node:zlib";
import { baseOf } from "../../core/html/links.ts";
import { scanMarkup } from "../../core/html/scan.ts";
import { robotsDirectives } from "../../core/http/robots-tag.ts";
import { normalizeUrl } from "../../core/url/normalize.ts";
import { pageOf } from "../core/html/page-of.ts";
import { type Check, conformance, type SharedData } from "./lib.ts";

interface LinksOfPage {
  file: string;
  url: string;
  links: string[];
  nofollow?: string[];
}

function linksOfPages(data: SharedData): LinksOfPage[] {
  const lines = gunzipSync(data.bytes("html/links.ndjson.gz")).toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** As the WHATWG parser resolves it, http(s) only, without fragment: what jsdom gives, before our own spelling of escapes. */
function webUrl(href: string, base: string): string | undefined {
  const url = URL.parse(href, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href.replace(/#.*$/s, "") : undefined;
}

/** By link, whether any of its occurrences may be followed. */
function scannedLinks(markup: string, url: string): Map<string, boolean> {
  const scan = scanMarkup(markup, { xml: false, productToken: "OurBot" });
  const base = baseOf(scan, url);
  const found = new Map<string, boolean>();
  for (const [href, follow] of scan.hrefs) {
    const target = webUrl(href, base);
    if (target !== undefined) found.set(target, follow || found.get(target) === true);
  }
  return found;
}

conformance({
  name: "links of real pages, in jsdom's order",
  files: ["html"],
  cases: 5419,
  judge(data, check) {
    for (const { file, url, links, nofollow = [] } of linksOfPages(data)) {
      const bytes = data.bytes(`html/${file}`);
      const found = scannedLinks(bytes.toString(), url);
      const targets = [...found.keys()];
      for (const [at, link] of links.entries()) check(`${file} link ${at}`, targets[at], link);
      check(`${file} count`, targets.length, links.length);
      const unfollowed = [...found].filter(([, follow]) => !follow).map(([target]) => target);
      check(`${file} nofollow`, unfollowed.sort(), nofollow.toSorted());
      check(`${file} page`, () => pageLinks(bytes, url), links.filter((link) => !nofollow.includes(link)).flatMap(spelt));
    }
  },
});

/** Of a page that forbids us its links, all but that wish. */
function pageLinks(bytes: Buffer, url: string): string[] {
  const wish = /<meta[^>]*name=["']?robots["']?[^>]*>/gi;
  return pageOf(Buffer.from(bytes.toString().replace(wish, "")), { url }).links;
}

function spelt(url: string, at: number, all: string[]): string[] {
  const target = normalizeUrl(url);
  if (!target.ok) return [];
  return all.slice(0, at).some((before) => sameTarget(before, target.url)) ? [] : [target.url];
}

function sameTarget(one: string, url: string): boolean {
  const target = normalizeUrl(one);
  return target.ok && target.url === url;
}

interface LinkCase {
  kind: "base-url" | "meta-refresh" | "outlinks" | "meta-robots" | "x-robots-tag";
  html?: string;
  htmlB64?: string;
  encoding?: string;
  url?: string;
  headers?: string[];
  options?: { ignore_tags?: string[] };
  expected: unknown;
}

/** A page that no case names, for those that need none. */
const NOWHERE = "https://nowhere.example/";

const EMBEDDED =
  "HTML 4.6.1: hyperlinks that a page offers are its a and area elements; frames, images, media and forms embed or submit";

conformance({
  name: "base, refresh, anchors, meta robots, X-Robots-Tag",
  files: ["links.json"],
  cases: 76,
  justified: {
    "meta-refresh 22": "HTML 13.2.5, eof-in-tag: a tag that the end of the file cuts off is none",
    "meta-refresh 40":
      "HTML 4.12.2: noscript is for browsers without scripts, which a search index does not show its pages to; w3lib's option asks otherwise, its default agrees with us",
    "meta-refresh 42":
      "HTML 13.1.2: a script holds text, not elements; w3lib's option asks otherwise, its default agrees with us",
    "outlinks 50": EMBEDDED,
    "outlinks 51": EMBEDDED,
    "outlinks 54": EMBEDDED,
    "outlinks 57": EMBEDDED,
    "outlinks 58": EMBEDDED,
  },
  judge(data, check) {
    for (const [at, one] of data.json<LinkCase[]>("links.json").entries()) judgeLinks(`${one.kind} ${at}`, one, check);
  },
});

function judgeLinks(id: string, one: LinkCase, check: Check): void {
  const { html, htmlB64, encoding = "utf-8", url = NOWHERE, headers = [], expected } = one;
  const bytes = htmlB64 === undefined ? Buffer.from(html ?? "") : Buffer.from(htmlB64, "base64");
  const page = () => pageOf(bytes, { url, contentType: `text/html; charset=${encoding}` });
  if (one.kind === "base-url") {
    const scan = scanMarkup(bytes.toString(), { xml: false, productToken: "OurBot" });
    check(id, baseOf(scan, URL.parse(url)?.href ?? ""), URL.parse((expected as string) || url)?.href);
  } else if (one.kind === "meta-refresh") {
    check(id, () => page().refresh ?? null, (expected as [number, string | null])[1]);
  } else if (one.kind === "outlinks") {
    const targets = (expected as { url: string }[]).map((target) => webUrl(target.url, url));
    check(id, () => page().links, [...new Set(targets)]);
  } else {
    const { noindex, nofollow } = expected as { noindex: boolean; nofollow: boolean };
    const found = one.kind === "meta-robots" ? page : () => robotsDirectives(headers, "OurBot");
    check(id, () => wishesOf(found()), { noindex, nofollow });
  }
}

function wishesOf({ noindex, nofollow }: { noindex: boolean; nofollow: boolean }) {
  return { noindex, nofollow };
}

interface IndexedPage {
  file: string;
  url: string;
  canonical?: string;
  lang?: string;
  metaRobots?: string[];
}

conformance({
  name: "canonical, language and meta robots of real pages",
  files: ["html"],
  cases: 243,
  judge(data, check) {
    for (const { file, url, canonical, lang, metaRobots = [] } of data.json<IndexedPage[]>("html/index.json")) {
      const page = pageOf(data.bytes(`html/${file}`), { url });
      const target = canonical === undefined ? undefined : normalizeUrl(canonical, url);
      check(`${file} canonical`, page.canonical, target?.ok ? target.url : undefined);
      check(`${file} language`, page.language, lang);
      const words = metaRobots
        .join(",")
        .toLowerCase()
        .split(/[\s,]+/);
      const told = (word: string) => words.includes(word) || words.includes("none");
      check(`${file} robots`, wishesOf(page), { noindex: told("noindex"), nofollow: told("nofollow") });
    }
  },
});
