// Which pattern is a URL of? Its numbers, dates, hashes, slugs and parameter values folded, so that a series has one template.

import { type RowKey, rowKey } from "../../schemas/row-key.ts";
import type { TemplateCount } from "../../schemas/template-count.ts";
import { paceKeyOfHost, urlIdentity } from "../url/keys.ts";
import { nameOf, pairsOf, segmentsOf, urlParts } from "./url-parts.ts";

/** From the finest to the coarsest. A host has at most some 40 of the last kind, whatever its URLs. */
export type TemplateLadder = readonly [fine: string, middle: string, coarse: string];

/**
 * The template of a canonical URL within its host. Words that name a directory stand as they are; the last segment names a page, so
 * only its kind stands. Of a query with one parameter its name stands; two or more are one bucket, so that no subset and no order of
 * a search's parameters is a template of its own.
 */
export function templateOf(url: string): string {
  return templateLadder(url)[0];
}

export function templateLadder(url: string): TemplateLadder {
  const { path, query } = urlParts(url);
  const segments = segmentsOf(path);
  const pairs = pairsOf(query);
  const kept = segments.slice(0, SEGMENTS_MAX);
  const folded = kept.map((segment, index) =>
    index < segments.length - 1 ? innerClass(segment, index) : leafClass(segment, pairs.length > 0),
  );
  const more = segments.length > SEGMENTS_MAX ? "/**" : "";
  const stars = kept.map(() => "*");
  const some = pairs.length === 0 ? "" : "?*";
  return [
    `/${folded.join("/")}${more}${queryClass(pairs)}`,
    `/${[...folded.slice(0, 1), ...stars.slice(1)].join("/")}${more}${some}`,
    `/${stars.join("/")}${more}${some}`,
  ];
}

/** Whether the URLs of a template have a query. */
export function hasQuery(template: string): boolean {
  return template.includes("?");
}

/** What names a TemplateCount. */
export type TemplateName = Pick<TemplateCount, "hostKey" | "template">;

/** Where a TemplateCount stands: among the rows of its pace key, under a hash, since templates hold slashes. */
export function templateRowKey({ hostKey, template }: TemplateName, by: "host" | "domain" = "host"): RowKey {
  return rowKey(paceKeyOfHost(hostKey, by), `template ${urlIdentity(`${hostKey} ${template}`).urlId}`);
}

/** Deeper ones are folded into one; most sites stay above. */
const SEGMENTS_MAX = 8;
/** Words stand for themselves in the first directories only: below them, they are content as often as not. */
const WORDS_MAX = 4;
/** A word, or two or three joined; longer ones are titles. */
const WORD_CHARS_MAX = 24;

function innerClass(segment: string, index: number): string {
  const kind = classOf(segment);
  if (kind !== WORD) return kind;
  return index < WORDS_MAX ? segment.toLowerCase() : WORD;
}

/** With a query, a plain lower-case name is a program's rather than a page's: /search?q=, /index.php?id=. */
function leafClass(segment: string, query: boolean): string {
  const dot = segment.lastIndexOf(".");
  const extension = dot > 0 && EXTENSION.test(segment.slice(dot)) ? segment.slice(dot).toLowerCase() : "";
  const stem = extension === "" ? segment : segment.slice(0, dot);
  const plain = query && stem.length <= WORD_CHARS_MAX && /^[a-z]+$/.test(stem);
  return `${plain ? stem : classOf(stem)}${extension}`;
}

const EXTENSION = /^\.[a-z][a-z0-9]{0,4}$/i;
const WORD = "{word}";

/** No pattern below has two ways to match one text, so each is linear. */
const CLASSES: readonly [name: string, pattern: RegExp][] = [
  ["{uuid}", /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i],
  ["{date}", /^[12]\d{3}-[01]\d(?:-[0-3]\d)?$/],
  ["{date}", /^(?:19|20)\d{2}[01]\d[0-3]\d$/],
  ["{number}", /^(?=.*\d)[\d.,:+_-]+$/],
  ["{hex}", /^(?=.*\d)[0-9a-f]{8,}$/i],
  ["{word}{number}", /^[a-z]{1,12}[-_]?\d+$/i],
  ["{word}{number}", /^\d+[-_]?[a-z]{1,4}$/i],
];

function classOf(segment: string): string {
  for (const [name, pattern] of CLASSES) if (pattern.test(segment)) return name;
  const letters = segment.includes("%") ? segment.replace(/%[0-9A-F]{2}/g, "~") : segment;
  const joints = letters.match(/[-_.+]/g)?.length ?? 0;
  if (joints === 0 && letters.length <= WORD_CHARS_MAX && !/\d/.test(letters)) return WORD;
  if (joints === 0) return /\d/.test(letters) ? "{token}" : "{slug}";
  return joints <= 2 && letters.length <= WORD_CHARS_MAX && !/\d/.test(letters) ? WORD : "{slug}";
}

function queryClass(pairs: readonly string[]): string {
  const [pair] = pairs;
  if (pair === undefined) return "";
  return pairs.length === 1 ? `?${parameterClass(nameOf(pair))}=` : "?2+";
}

/** Of filter[colour], the part before the bracket: what stands in it is a value. */
function parameterClass(name: string): string {
  const plain = name.toLowerCase().replace(/(?:\[|%5b).*$/, "[]");
  if (plain.length > WORD_CHARS_MAX) return "{name}";
  return plain.replace(/\d+/g, "{number}");
}
