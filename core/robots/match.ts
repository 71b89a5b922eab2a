// May this URL be fetched under these rules? RFC 9309 2.2.2: the longest matching rule decides, allow wins a tie.
import { compileGlobs, firstMatch, type Globs } from "./glob.ts";
import { canonicalOctets, escapeSpecials } from "./octets.ts";
import type { RobotsRules } from "./parse.ts";

export interface RobotsVerdict {
  allowed: boolean;
  /** The deciding rule as `Disallow: /path`; absent where none matches. */
  rule?: string;
  /** Its line in the file, from 1. */
  line?: number;
}

/**
 * `url` is absolute; a bare path will do. Scheme and host are not looked at. Time is linear in the rules and, for all but files made up
 * to be slow, in the URL: see firstMatch.
 */
export function robotsVerdict(rules: RobotsRules, url: string): RobotsVerdict {
  const path = pathOf(url);
  if (path === "/robots.txt") return { allowed: true }; // 2.2.2: implicitly allowed
  const { globs, order } = compiledOf(rules);
  let strongest = order.length;
  for (const form of formsOf(escapeSpecials(canonicalOctets(path)))) strongest = firstMatch(globs, form, strongest);
  const rule = rules.rules[order[strongest] ?? -1];
  if (rule === undefined) return { allowed: true };
  return { allowed: rule.allow, rule: `${rule.allow ? "Allow" : "Disallow"}: ${rule.pattern}`, line: rule.line };
}

interface Compiled {
  /** Strongest first. */
  globs: Globs;
  /** Of each glob the place of its rule in the file. */
  order: readonly number[];
}

/** Rules are parsed once and asked for thousands of URLs. */
const compiled = new WeakMap<RobotsRules, Compiled>();

function compiledOf(rules: RobotsRules): Compiled {
  const known = compiled.get(rules);
  if (known !== undefined) return known;
  const patterns = rules.rules.map(({ pattern }) => canonicalOctets(pattern));
  const strength = (at: number) => patterns[at]!.length + (rules.rules[at]!.allow ? 0.5 : 0);
  const order = patterns.map((_, at) => at).sort((a, b) => strength(b) - strength(a));
  const fresh = { globs: compileGlobs(order.map((at) => escapeInnerDollars(patterns[at]!))), order };
  compiled.set(rules, fresh);
  return fresh;
}

/** A dollar sign that does not end the pattern stands for itself. */
function escapeInnerDollars(pattern: string): string {
  return pattern.replace(/\$(?!$)/g, "%24");
}

/** Path and query, without fragment. */
function pathOf(url: string): string {
  const whole = url.split("#", 1)[0]!;
  const authority = /^(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/[^/?]*/.exec(whole);
  const path = authority === null ? whole : whole.slice(authority[0].length);
  return path.startsWith("/") ? path : `/${path}`;
}

/**
 * 2.2.2's table takes `?baz=http://foo.bar` and `?baz=http%3A%2F%2Ffoo.bar` for one path to match; in the path itself %2F stays apart
 * from the slash. In a query these four part nothing (RFC 3986 3.4), so one that holds any of them is tried as it is, all raw and all
 * escaped.
 */
function formsOf(path: string): string[] {
  const start = path.indexOf("?") + 1;
  const query = path.slice(start);
  if (start === 0 || !/[:/?@]|%3A|%2F|%3F|%40/.test(query)) return [path];
  const before = path.slice(0, start);
  const raw = query.replace(/%3A|%2F|%3F|%40/g, (triplet) => String.fromCharCode(Number.parseInt(triplet.slice(1), 16)));
  const escaped = raw.replace(/[:/?@]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return [...new Set([path, before + raw, before + escaped])];
}
