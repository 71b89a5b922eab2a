// Which URLs of this host are the same although they are spelt differently? Named normalisers, each off until a policy switches it on.
import { type ParameterRule, parameterRules } from "../../schemas/crawl-config.ts";
import { hostKeyOf, hostNameOf, registrableDomain } from "./keys.ts";
import { normalizeUrl } from "./normalize.ts";

/**
 * A canonical URL with the rules applied, whatever their order in `names`; canonical again, and idempotent. Whoever keeps the result
 * keeps the raw URL beside it where they differ: what was found is a fact.
 */
export function applyParameterRules(canonicalUrl: string, names: readonly ParameterRule[]): string {
  if (names.length === 0) return canonicalUrl;
  let parts = partsOf(canonicalUrl);
  for (const name of parameterRules) if (names.includes(name)) parts = RULES[name](parts);
  const url = `${parts.hostKey}${parts.path}${parts.pairs.length === 0 ? "" : `?${parts.pairs.join("&")}`}`;
  if (url === canonicalUrl) return canonicalUrl;
  const normal = normalizeUrl(url);
  return normal.ok && normal.url === url ? url : canonicalUrl; // a rule never makes a URL that means something else to a parser
}

interface Parts {
  hostKey: string;
  path: string;
  pairs: readonly string[];
}

function partsOf(url: string): Parts {
  const hostKey = hostKeyOf(url);
  const mark = url.indexOf("?", hostKey.length);
  if (mark < 0) return { hostKey, path: url.slice(hostKey.length), pairs: [] };
  return { hostKey, path: url.slice(hostKey.length, mark), pairs: url.slice(mark + 1).split("&") };
}

const RULES: Record<ParameterRule, (parts: Parts) => Parts> = {
  "session-ids": ({ hostKey, path, pairs }) => ({
    hostKey,
    path: withoutSessions(path),
    pairs: pairs.filter((pair) => !isSession(pair)),
  }),
  "tracking-parameters": (parts) => ({ ...parts, pairs: parts.pairs.filter((pair) => !isTracking(nameOf(pair))) }),
  // Parameters of one name keep their order, which a program may mean.
  "parameter-order": (parts) => ({ ...parts, pairs: [...parts.pairs].sort((one, other) => order(nameOf(one), nameOf(other))) }),
  "trailing-slash": (parts) => ({ ...parts, path: withoutTrailingSlashes(parts.path) }),
  www: (parts) => ({ ...parts, hostKey: withoutWww(parts.hostKey) }),
};

function nameOf(pair: string): string {
  const equals = pair.indexOf("=");
  return (equals < 0 ? pair : pair.slice(0, equals)).toLowerCase();
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Names that servers give a session: Java, PHP, ASP, ColdFusion, and the shops and forums that were built on them. */
const SESSIONS: ReadonlySet<string> = new Set([
  "jsessionid",
  "phpsessid",
  "sessionid",
  "session_id",
  "sessid",
  "cfid",
  "cftoken",
  "zenid",
  "oscsid",
  "xtcsid",
]);

/** Names that mean other things too, so that only a value that looks drawn by chance makes one a session. */
const MAYBE_SESSIONS: ReadonlySet<string> = new Set(["sid", "s", "session", "phpsession"]);
const DRAWN = /^[0-9a-z]{16,}$/i;

function isSession(pair: string): boolean {
  const name = nameOf(pair);
  if (SESSIONS.has(name) || name.startsWith("aspsessionid")) return true;
  if (!MAYBE_SESSIONS.has(name)) return false;
  const value = pair.slice(name.length + 1);
  return DRAWN.test(value) && /\d/.test(value);
}

/** ;jsessionid=… of Java servers, and the (S(…)) segment of ASP.NET. */
function withoutSessions(path: string): string {
  const plain = path.includes(";") ? path.replace(/;(?:jsessionid|phpsessid|sid)=[^;/]*/gi, "") : path;
  if (!plain.includes("/(")) return plain;
  const segments = plain.split("/").filter((segment) => !/^\([SAF]\([0-9a-z]{16,}\)\)$/i.test(segment));
  return segments.length > 1 ? segments.join("/") : "/";
}

/** Parameters that campaigns and analytics add to a link and no page depends on. */
const TRACKING: ReadonlySet<string> = new Set([
  "gclid",
  "gclsrc",
  "dclid",
  "gbraid",
  "wbraid",
  "fbclid",
  "msclkid",
  "yclid",
  "twclid",
  "ttclid",
  "li_fat_id",
  "igshid",
  "mc_cid",
  "mc_eid",
  "mkt_tok",
  "_ga",
  "_gl",
  "_hsenc",
  "_hsmi",
  "srsltid",
]);
const TRACKING_STARTS = ["utm_", "mtm_", "pk_", "piwik_"];

function isTracking(name: string): boolean {
  return TRACKING.has(name) || TRACKING_STARTS.some((start) => name.startsWith(start));
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === "/") end--;
  return path.slice(0, end);
}

/** Only what lies below a registrable domain loses its www: www.co.uk and www.test are whole names. */
function withoutWww(hostKey: string): string {
  const start = hostKey.indexOf("//") + 2;
  let key = hostKey;
  while (key.startsWith("www.", start) && registrableDomain(hostNameOf(key)) !== hostNameOf(key))
    key = key.slice(0, start) + key.slice(start + "www.".length);
  return key;
}
