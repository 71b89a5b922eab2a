// Does a URL look like one of an endless series? Judged by its own text, and by the page that links to it where that is known.
import type { UrlLimits } from "../../schemas/crawl-config.ts";
import type { RefusalReason } from "../../schemas/reasons.ts";
import { hostNameOf } from "../url/keys.ts";
import { nameOf, pairsOf, segmentsOf, urlParts } from "./url-parts.ts";

export type ShapeReason = Extract<
  RefusalReason,
  "url-length" | "path-depth" | "parameters" | "echo" | "repeated-segments" | "relative-growth"
>;

/** Why a canonical URL is not worth a record, or undefined. `from`: the canonical URL of the page that links to it. */
export function urlShapeRefusal(url: string, limits: UrlLimits, from?: string): ShapeReason | undefined {
  if (url.length > limits.urlLength) return "url-length";
  const { path, query } = urlParts(url);
  const segments = segmentsOf(path);
  if (segments.length > limits.pathDepth) return "path-depth";
  if (query !== "") {
    if (pairsOf(query).length > limits.parameters) return "parameters";
    if (repeatsItself(query, limits.parameterRepeats) || (from !== undefined && echoes(from, url))) return "echo";
  }
  if (segments.length < 2) return undefined;
  if (growsByHostNames(segments, hostNameOf(url))) return "relative-growth";
  if (hasLongRun(segments, limits.segmentRuns) || repeatsSegments(segments, limits.segmentRepeats)) return "repeated-segments";
  return undefined;
}

/** Whether a link goes to the page's own URL, with nothing more than parameters that are there already. */
function echoes(from: string, url: string): boolean {
  if (!url.startsWith(from)) return false;
  const known = urlParts(from).query;
  if (known === "") return false;
  const pairs = new Set(pairsOf(known));
  const more = urlParts(url).query.slice(known.length);
  if (more[0] === "?") return pairs.has(more.slice(1)); // the page's address with "?q=" glued to it
  return more[0] === "&" && pairsOf(more).every((pair) => pairs.has(pair));
}

/** Whether one name is given a value more than `most` times, also inside of values that are URLs themselves. */
function repeatsItself(query: string, most: number): boolean {
  if (query.length <= 2 * most) return false;
  const counts = new Map<string, number>();
  for (const pair of unwrapped(query).split(/[?&]/)) {
    if (!pair.includes("=")) continue;
    const name = nameOf(pair);
    const count = (counts.get(name) ?? 0) + 1;
    if (count > most) return true;
    counts.set(name, count);
  }
  return false;
}

/** How often a return address may be wrapped in another: each level escapes the escapes of the one before. */
const WRAPS_MAX = 8;

/** The query with the escaped delimiters of nested URLs in plain; a percent sign is the delimiter of the next level. */
function unwrapped(query: string): string {
  let text = query;
  for (let level = 0; level < WRAPS_MAX && DELIMITER.test(text); level++) {
    text = text.replace(DELIMITERS, (escaped) => PLAIN[escaped.slice(1).toUpperCase()] ?? escaped);
  }
  return text;
}

const DELIMITER = /%(?:25|26|3D|3F)/i;
const DELIMITERS = /%(?:25|26|3D|3F)/gi;
const PLAIN: Readonly<Record<string, string>> = { "25": "%", "26": "&", "3D": "=", "3F": "?" };

/**
 * A link without a scheme, such as www.other.test, is a path below the page's own. A site that answers everything then answers that
 * too, with the same link. One host name in a path is how archives look; two are growth.
 */
function growsByHostNames(segments: readonly string[], hostName: string): boolean {
  let names = 0;
  for (const segment of segments) if (segment.startsWith("www.") || (segment === hostName && hostName.includes("."))) names++;
  return names > 1;
}

/** Longer repetitions are found by repeatsSegments. */
const PERIOD_MAX = 8;

/** Whether some segments in a row stand more than `most` times one after the other. Dates are not meant: /11/11/11. */
function hasLongRun(segments: readonly string[], most: number): boolean {
  for (let period = 1; period <= PERIOD_MAX && period * (most + 1) <= segments.length; period++) {
    let same = 0; // segments up to here that are like the one a period before
    let words = 0; // of these, those that are no numbers
    for (let at = period; at < segments.length; at++) {
      const alike = segments[at] === segments[at - period];
      same = alike ? same + 1 : 0;
      words = alike ? words + (isNumber(segments[at] ?? "") ? 0 : 1) : 0;
      if (same >= period * most && words > 0) return true;
    }
  }
  return false;
}

/** All segments are counted together: relative links that every path answers grow in any order of their names. */
function repeatsSegments(segments: readonly string[], most: number): boolean {
  return segments.length - new Set(segments).size > most;
}

function isNumber(segment: string): boolean {
  return /^\d+$/.test(segment);
}
