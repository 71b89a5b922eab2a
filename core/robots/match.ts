// May this URL be fetched under these rules? RFC 9309 2.2.2: the longest matching rule decides, allow wins a tie.
import { type Glob, globMatches, parseGlob } from "./glob.ts";
import { canonicalOctets, escapeSpecials } from "./octets.ts";
import type { RobotsRules } from "./parse.ts";

export interface RobotsVerdict {
  allowed: boolean;
  /** The deciding rule as `Disallow: /path`; absent where none matches. */
  rule?: string;
  /** Its line in the file, from 1. */
  line?: number;
}

/** `url` is absolute; a bare path will do. Scheme and host are not looked at. Time is linear in each pattern and the URL. */
export function robotsVerdict(rules: RobotsRules, url: string): RobotsVerdict {
  const path = pathOf(url);
  if (path === "/robots.txt") return { allowed: true }; // 2.2.2: implicitly allowed
  const forms = formsOf(escapeSpecials(canonicalOctets(path)));
  const deciding = compiledOf(rules).find(({ glob }) => forms.some((form) => globMatches(glob, form)));
  return deciding === undefined ? { allowed: true } : deciding.verdict;
}

interface CompiledRule {
  glob: Glob;
  octets: number;
  verdict: RobotsVerdict;
}

/** Rules are parsed once and asked for thousands of URLs. */
const compiled = new WeakMap<RobotsRules, CompiledRule[]>();

/** Strongest first, so that the first match decides. */
function compiledOf(rules: RobotsRules): CompiledRule[] {
  const known = compiled.get(rules);
  if (known !== undefined) return known;
  const fresh = rules.rules.map(({ allow, pattern, line }) => {
    const octets = canonicalOctets(pattern);
    const verdict = { allowed: allow, rule: `${allow ? "Allow" : "Disallow"}: ${pattern}`, line };
    return { glob: parseGlob(escapeInnerDollars(octets)), octets: octets.length, verdict };
  });
  fresh.sort((a, b) => b.octets - a.octets || Number(b.verdict.allowed) - Number(a.verdict.allowed));
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
 * from the slash. So a URL whose query holds either is tried as it is, all raw and all escaped.
 */
function formsOf(path: string): string[] {
  const start = path.indexOf("?") + 1;
  const query = path.slice(start);
  if (start === 0 || !/[:/]|%3A|%2F/.test(query)) return [path];
  const before = path.slice(0, start);
  const raw = query.replaceAll("%3A", ":").replaceAll("%2F", "/");
  return [...new Set([path, before + raw, before + raw.replaceAll(":", "%3A").replaceAll("/", "%2F")])];
}
