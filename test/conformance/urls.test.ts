// Is every URL brought to WHATWG's form and RFC 3986 6.2.2's, and nothing beyond? No fragment, no credentials, http and https alone.
import { normalizeUrl } from "../../core/url/normalize.ts";
import { applyParameterRules } from "../../core/url/parameter-rules.ts";
import type { ParameterRule } from "../../schemas/crawl-config.ts";
import { conformance } from "./lib.ts";

interface Case {
  input: string;
  base?: string;
  expected: string | null;
  /** False: the expectation goes beyond the two standards, and `whatwg` alone is what we want. */
  semanticsPreserving?: boolean;
  whatwg?: string | null;
  /** In what the expectation goes beyond them. */
  beyond?: string[];
  i: number;
}

const FILE = "urlnormalize.json";
const upperCase = "RFC 3986 6.2.2.1: hex digits in upper case";
const decoded = "RFC 3986 6.2.2.2: an escaped unreserved octet is decoded";

conformance({
  name: "URL parsing and normalisation",
  files: [FILE],
  cases: 699,
  justified: {
    "/a%2fc (146)": upperCase,
    "//g (164)": "WHATWG, and RFC 3986 6.2.3: an empty path is a slash",
    "http:g (200)": "WHATWG's parser, and RFC 3986 5.4.2 for the loose one: relative, where the base has the scheme",
    "/a/%2f/c (310)": upperCase,
    "http://example.com/foo/%2e./%2e%2e/.%2e/%2e.bar (352)": decoded,
    "http://example.com/foo%41%7a (362)": decoded,
    "http://example.com/foo%00%51 (364)": decoded,
    "http://example.com/%3A%3a%3C%3c (366)": upperCase,
    "http://www/foo%2Ehtml (380)": decoded,
    "http://./ (518)": "RFC 1034 3.1: the root has no address, no name is a dot",
    "https://www.example.org./ (92)": "RFC 1034 3.1: the dot is the name's own root; one server, which has to see one clock",
  },
  judge(data, check) {
    for (const one of data.json<Case[]>(FILE))
      check(`${one.input} (${one.i})`, () => settled(one.input, one.base), wanted(one));
  },
});

/** What goes beyond, and is there by name for a host whose policy switches it on. */
const options: [beyond: string, rule: ParameterRule][] = [
  ["query-params-removed (configured", "session-ids"],
  ["query-sorted", "parameter-order"],
];

conformance({
  name: "URL options, each off until it is named",
  files: [FILE],
  cases: 5,
  judge(data, check) {
    for (const { input, expected, beyond = [], i } of data.json<Case[]>(FILE)) {
      const rules = beyond.map((wish) => options.find(([start]) => wish.startsWith(start))?.[1]);
      if (rules.length === 0 || rules.includes(undefined)) continue;
      const url = settled(input);
      const on = applyParameterRules(url, rules as ParameterRule[]);
      check(`${input} (${i})`, { on, off: applyParameterRules(url, []) }, { on: expected, off: url });
    }
  },
});

/** The form, or why there is none. It has to be its own form. */
function settled(raw: string, base?: string): string {
  const once = normalizeUrl(raw, base);
  if (!once.ok) return once.reason;
  const twice = normalizeUrl(once.url);
  return twice.ok && twice.url === once.url ? once.url : `${once.url}, which is not its own form`;
}

function wanted({ expected, semanticsPreserving, whatwg }: Case): string {
  if (semanticsPreserving !== false) return ours(expected);
  return ours(whatwg ?? null).replace(/%[0-9a-f]{2}/gi, (triplet) => {
    const char = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(char) ? char : triplet.toUpperCase();
  });
}

/** What a crawler keeps of a URL. */
function ours(url: string | null): string {
  if (url === null) return "malformed";
  if (!/^https?:/.test(url)) return "scheme";
  return url.replace(/#.*$/s, "").replace(/^(https?:\/\/)[^/?#]*@/, "$1");
}
