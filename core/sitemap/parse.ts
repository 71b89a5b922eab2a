// Which URLs does a sitemap list? The protocol of sitemaps.org: XML, index, feeds and plain text, within its limits.
import { limits } from "../../schemas/limits.ts";
import { decodeChunks } from "./decode.ts";
import { readXml, type XmlEntry } from "./xml.ts";

export interface SitemapUrl {
  /** Absolute, http or https, without fragment. */
  url: string;
  /** Unix ms. */
  lastModifiedMs?: number;
  /** 0 to 1; absent where the sitemap says none or nonsense. */
  priority?: number;
}

export interface SitemapReference {
  url: string;
  lastModifiedMs?: number;
}

export type ParsedSitemap =
  /** `dropped`: entries of another host, without a usable URL, or beyond the limit. */
  | { kind: "urls"; entries: SitemapUrl[]; dropped: number }
  /** Each sitemap once, the index itself left out. */
  | { kind: "index"; sitemaps: SitemapReference[]; dropped: number }
  /** Still compressed: inflate it and ask again. */
  | { kind: "gzip" }
  | { kind: "error"; reason: "empty" | "too-large" | "not-a-sitemap" };

export interface SitemapOptions {
  /**
   * Host names that may be listed besides the sitemap's own: the one whose robots.txt named it (sitemaps.org's proof for another host),
   * or the one that redirected here.
   */
  allowHosts?: readonly string[];
  /**
   * Whether a urlset lists only what lies in the sitemap's own folder (sitemaps.org, "Sitemap file location"). Off: what a host serves is
   * taken for the host's word about all of it, and a sitemap that its robots.txt names may lie anywhere.
   */
  ownFolder?: boolean;
}

/**
 * `bytes` after content decoding, `url` what they were fetched from. Never throws; of a document that breaks off, what came whole is
 * kept. At most limits.sitemapBytes are read, limits.sitemapUrls and sitemapIndexUrls are kept.
 */
export function parseSitemap(bytes: Uint8Array, url: string, contentType: string, options: SitemapOptions = {}): ParsedSitemap {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return { kind: "gzip" };
  if (bytes.length > limits.sitemapBytes) return { kind: "error", reason: "too-large" };
  const chunks = decodeChunks(bytes, contentType);
  const first = chunks.next();
  if (first.done) return { kind: "error", reason: "empty" };
  const whole = joined(first.value, chunks);
  const collector = collectorOf(url, options);
  return first.value.startsWith("<") ? fromXml(whole, collector) : fromText(whole, collector);
}

interface Collector {
  base: URL | null;
  hosts: ReadonlySet<string>;
  /** What every URL of a urlset begins with, where there is such a rule. */
  folder: string | undefined;
  entries: SitemapUrl[];
  seen: Set<string>;
  dropped: number;
}

function collectorOf(url: string, { allowHosts = [], ownFolder = false }: SitemapOptions): Collector {
  const base = URL.parse(url);
  const folder = ownFolder && base !== null ? new URL("./", base).href : undefined;
  const hosts = new Set([...(base === null ? [] : [base.hostname]), ...allowHosts.map((host) => host.toLowerCase())]);
  return { base, hosts, folder, entries: [], seen: new Set(), dropped: 0 };
}

function fromXml(chunks: Iterable<string>, collector: Collector): ParsedSitemap {
  const kind = readXml(chunks, (entry, isIndex) =>
    collect(collector, entry, isIndex ? limits.sitemapIndexUrls : limits.sitemapUrls, isIndex),
  );
  const { entries, dropped } = collector;
  if (kind === undefined) return { kind: "error", reason: "not-a-sitemap" };
  if (kind === "urls") return { kind, entries, dropped };
  return { kind, sitemaps: entries.map(({ priority: _priority, ...reference }) => reference), dropped };
}

/** One absolute URL a line; a text without any is no sitemap. */
function fromText(chunks: Iterable<string>, collector: Collector): ParsedSitemap {
  let looksRight = false;
  for (const line of linesOf(chunks)) {
    const location = line.trim();
    if (location === "") continue;
    const absolute = /^https?:\/\//i.test(location);
    looksRight ||= absolute;
    if (absolute) collect(collector, { locations: [location] }, limits.sitemapUrls, false);
    else collector.dropped++;
  }
  const { entries, dropped } = collector;
  return looksRight ? { kind: "urls", entries, dropped } : { kind: "error", reason: "not-a-sitemap" };
}

function* joined(first: string, rest: Iterable<string>): Generator<string> {
  yield first;
  yield* rest;
}

function* linesOf(chunks: Iterable<string>): Generator<string> {
  let open = "";
  for (const chunk of chunks) {
    const lines = chunk.split(/\r\n|\n|\r/);
    const last = lines.pop()!;
    if (lines.length > 0) {
      yield open + lines[0];
      yield* lines.slice(1);
      open = last;
    } else if (open.length <= limits.urlLength) open += last; // what is too long already is refused as it is
  }
  yield open;
}

function collect(collector: Collector, entry: XmlEntry, limit: number, isIndex: boolean): void {
  if (entry.locations.length === 0) collector.dropped++;
  for (const location of entry.locations) {
    const url = resolved(collector, location);
    if (url !== undefined && collector.seen.has(url)) continue;
    const isOutside = !isIndex && collector.folder !== undefined && url?.startsWith(collector.folder) === false;
    if (url === undefined || isOutside || collector.entries.length >= limit || (isIndex && url === collector.base?.href)) {
      collector.dropped++;
      continue;
    }
    collector.seen.add(url);
    const { lastModifiedMs, priority } = entry;
    collector.entries.push({
      url,
      ...(lastModifiedMs !== undefined && { lastModifiedMs }),
      ...(priority !== undefined && { priority }),
    });
  }
}

/** Of the right host whatever its scheme and port, and no longer than a URL may be. */
function resolved({ base, hosts }: Collector, location: string): string | undefined {
  if (location === "" || location.length > limits.urlLength) return undefined;
  const url = URL.parse(location, base?.href);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || !hosts.has(url.hostname)) return undefined;
  url.hash = "";
  return url.href.length > limits.urlLength ? undefined : url.href;
}
