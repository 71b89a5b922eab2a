// Which entries does an XML sitemap or feed hold? One pass over its tags: sitemaps.org's urlset and sitemapindex, RSS, Atom.
import { Parser } from "htmlparser2";
import { limits } from "../../schemas/limits.ts";
import { parseRssDate } from "./rss-date.ts";
import { parseW3cDate } from "./w3c-date.ts";

export interface XmlEntry {
  /** As written, blanks around them removed; one but in broken files. */
  locations: string[];
  lastModifiedMs?: number;
  priority?: number;
}

/** What the elements below an entry are to us. */
type Field = "location" | "guid" | "link" | "modified" | "priority";

interface Dialect {
  kind: "urls" | "index";
  /** The element that is an entry. */
  entry: string;
  fields: ReadonlyMap<string, Field>;
  date: (value: string) => number | undefined;
}

const feedDate = (value: string) => parseRssDate(value) ?? parseW3cDate(value);
const items: Dialect = {
  kind: "urls",
  entry: "item",
  fields: new Map([
    ["link", "location"],
    ["guid", "guid"],
    ["pubdate", "modified"],
    ["dc:date", "modified"],
  ]),
  date: feedDate,
};

/** By the local name of the root; the namespace is not looked at, since files in the field get it wrong. */
const dialects = new Map<string, Dialect>([
  ["urlset", { kind: "urls", entry: "url", fields: sitemapFields(), date: parseW3cDate }],
  ["sitemapindex", { kind: "index", entry: "sitemap", fields: sitemapFields(), date: parseW3cDate }],
  ["rss", items],
  ["rdf", items],
  [
    "feed",
    {
      kind: "urls",
      entry: "entry",
      fields: new Map([
        ["link", "link"],
        ["updated", "modified"],
      ]),
      date: parseW3cDate,
    },
  ],
]);

function sitemapFields(): ReadonlyMap<string, Field> {
  return new Map([
    ["loc", "location"],
    ["lastmod", "modified"],
    ["priority", "priority"],
  ]);
}

/** Nothing we read lies deeper; the parser's stack costs time with its depth. */
const DEPTH_MAX = 64;
/** A value is kept to its limit and one more, so that a longer one shows. */
const VALUE_CHARS = limits.urlLength + 1;

interface Reading {
  dialect: Dialect | undefined;
  depth: number;
  /** Where the entry and the field under way stand, and what they held so far. */
  entry: { depth: number; prefix: string; values: Map<Field, string[]>; text: string } | undefined;
  field: { depth: number; name: Field; text: string } | undefined;
  /** The end of what came last: did a closing tag begin before the document broke off? */
  tail: string;
  ended: boolean;
  refused: boolean;
}

/**
 * Calls `found` for each entry in order, and says what the document is; undefined where it is no sitemap, or declares entities (which
 * are never expanded: only XML's five and numeric ones are).
 */
export function readXml(
  chunks: Iterable<string>,
  found: (entry: XmlEntry, isIndex: boolean) => void,
): "urls" | "index" | undefined {
  const reading: Reading = {
    dialect: undefined,
    depth: 0,
    entry: undefined,
    field: undefined,
    tail: "",
    ended: false,
    refused: false,
  };
  const stop = () => {
    reading.refused = true;
    parser.pause();
  };
  const parser = new Parser(
    {
      onopentag: (name, attributes) => opened(reading, name, attributes) || stop(),
      onclosetag: (_name, implied) => closed(reading, implied, found),
      ontext: (text) => written(reading, text),
      onprocessinginstruction: (name, value) => void (/^!doctype$/i.test(name) && value.includes("[") && stop()),
    },
    { xmlMode: true, decodeEntities: true },
  );
  for (const chunk of chunks) {
    parser.write(chunk);
    if (reading.refused) break;
    reading.tail = (reading.tail + chunk).slice(-TAIL_CHARS);
  }
  reading.ended = true;
  if (!reading.refused) parser.end();
  return reading.refused && reading.depth <= DEPTH_MAX ? undefined : reading.dialect?.kind;
}

const TAIL_CHARS = 32; // longer than any closing tag that we read
/** A document that breaks off in a closing tag had said all of the value before it. */
const CLOSING = /<(?:\/[^<>]*)?$/;

/** False where the document is not to be read further. */
function opened(reading: Reading, name: string, attributes: Record<string, string>): boolean {
  reading.depth++;
  const { prefix, local } = splitName(name);
  if (reading.depth === 1) {
    reading.dialect = dialects.get(local);
    return reading.dialect !== undefined;
  }
  const { dialect, entry, field, depth } = reading;
  if (entry === undefined && local === dialect?.entry) {
    reading.entry = { depth, prefix, values: new Map(), text: "" };
  } else if (entry !== undefined && field === undefined && depth === entry.depth + 1) {
    const known = dialect?.fields.get(prefix === entry.prefix ? local : `${prefix}:${local}`);
    if (known === "link") addLink(entry.values, attributes);
    else if (known !== undefined && !(known === "guid" && attributes.isPermaLink === "false")) {
      reading.field = { depth, name: known, text: "" };
    }
  }
  return depth <= DEPTH_MAX;
}

/** Atom names a page by the link that is its alternate, which is what no `rel` means (RFC 4287 4.2.7.2). */
function addLink(values: Map<Field, string[]>, { rel = "alternate", href }: Record<string, string>): void {
  if (rel === "alternate" && href !== undefined && !values.has("location")) values.set("location", [href.trim()]);
}

function written({ depth, entry, field }: Reading, text: string): void {
  const into = field ?? (entry?.depth === depth ? entry : undefined);
  if (into === undefined || into.text.length >= VALUE_CHARS) return;
  into.text += (into.text === "" ? text.trimStart() : text).slice(0, VALUE_CHARS);
}

function closed(reading: Reading, implied: boolean, found: (entry: XmlEntry, isIndex: boolean) => void): void {
  const { entry, field, dialect, depth } = reading;
  reading.depth--;
  if (field !== undefined && field.depth === depth) {
    reading.field = undefined;
    const broken = implied && reading.ended;
    const text = broken ? field.text.replace(/<\/?$/, "") : field.text; // the beginning of a tag, given as text
    if (!broken || CLOSING.test(reading.tail))
      entry?.values.set(field.name, [...(entry.values.get(field.name) ?? []), text.trim()]);
  } else if (entry !== undefined && entry.depth === depth && dialect !== undefined) {
    reading.entry = undefined;
    const broken = implied && reading.ended;
    const made = entryOf(entry.values, broken ? "" : entry.text.trim(), dialect);
    if (!(broken && made.locations.length === 0)) found(made, dialect.kind === "index");
  }
}

function entryOf(values: Map<Field, string[]>, text: string, { date }: Dialect): XmlEntry {
  const named = (values.get("location") ?? []).filter((location) => location !== "");
  // Without its element, a URL may stand as an item's identity, or naked in the entry
  const standIn = [...(values.get("guid") ?? []), text].find((value) => /^https?:/i.test(value));
  const locations = named.length > 0 || standIn === undefined ? named : [standIn];
  const lastModifiedMs = (values.get("modified") ?? []).map(date).find((at) => at !== undefined);
  const priority = priorityOf(values.get("priority")?.[0]);
  return {
    locations,
    ...(lastModifiedMs !== undefined && { lastModifiedMs }),
    ...(priority !== undefined && { priority }),
  };
}

function priorityOf(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{0,9}\.?\d{1,9}$/.test(value)) return undefined;
  const priority = Number(value);
  return priority <= 1 ? priority : undefined;
}

function splitName(name: string): { prefix: string; local: string } {
  const colon = name.indexOf(":");
  return { prefix: name.slice(0, Math.max(0, colon)).toLowerCase(), local: name.slice(colon + 1).toLowerCase() };
}
