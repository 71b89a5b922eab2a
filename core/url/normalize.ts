// Which URL is meant? One spelling for all that are certain to be the same: WHATWG URL parsing, then RFC 3986 6.2.2 percent-encoding.
import { limits } from "../../schemas/limits.ts";

export type NormalizedUrl = { ok: true; url: string } | { ok: false; reason: "malformed" | "scheme" | "url-length" };

const MALFORMED = { ok: false, reason: "malformed" } as const;
const SCHEME = { ok: false, reason: "scheme" } as const;
const TOO_LONG = { ok: false, reason: "url-length" } as const;

/**
 * The canonical form of a link or seed: http or https only, without fragment, credentials, default port or the dot that ends a
 * host name. Unreserved characters stand unescaped and hex digits in upper case. Idempotent.
 */
export function normalizeUrl(raw: string, base?: string): NormalizedUrl {
  if (raw.length > RAW_LENGTH_MAX) return OTHER_SCHEME.test(raw) ? SCHEME : TOO_LONG;
  const parsed = URL.parse(raw, base);
  if (parsed === null) return MALFORMED;
  const href = parsed.href;
  if (!href.startsWith("http://") && !href.startsWith("https://")) return SCHEME;
  return spell(href);
}

/** Longer input is not worth parsing: escapes shrink to a third at most, the rest of a URL hardly ever. */
const RAW_LENGTH_MAX = 4 * limits.urlLength;
const OTHER_SCHEME = /^\s*(?!https?:)[a-z][a-z0-9+.-]*:/i;

/** From the parser's serialisation to ours. */
function spell(href: string): NormalizedUrl {
  const fragment = href.indexOf("#");
  const whole = fragment < 0 ? href : href.slice(0, fragment);
  const authority = whole.indexOf("//") + 2;
  const path = whole.indexOf("/", authority);
  const scheme = whole.slice(0, authority);
  const host = spellHost(whole.slice(authority, path));
  if (host === undefined) return MALFORMED;
  const rest = whole.slice(path);
  const url = scheme + host + (rest.includes("%") ? spellEscapes(rest) : rest);
  return url.length > limits.urlLength ? TOO_LONG : { ok: true, url };
}

/** Without credentials and final dot: both spellings reach one server, which must see one clock. No name is nothing but dots. */
function spellHost(authority: string): string | undefined {
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const dot = host.lastIndexOf(".");
  if (dot < 0) return host;
  const afterDot = host[dot + 1];
  if (afterDot !== undefined && afterDot !== ":") return host;
  if (dot === 0 || host[dot - 1] === ".") return undefined;
  return host.slice(0, dot) + host.slice(dot + 1);
}

/** RFC 3986 6.2.2: %41 is A, %2f is %2F. A stray "%" stays; nothing is decoded that would complete an escape with it. */
function spellEscapes(text: string): string {
  let spelt = "";
  let from = 0;
  let stray = -1; // length of `spelt` after its last stray "%"
  for (let at = text.indexOf("%"); at >= 0; at = text.indexOf("%", from)) {
    spelt += text.slice(from, at);
    const code = hexValue(text.charCodeAt(at + 1)) * 16 + hexValue(text.charCodeAt(at + 2));
    from = at + 1;
    if (code < 0) {
      spelt += "%";
      stray = spelt.length;
      continue;
    }
    from = at + 3;
    const completes = stray >= 0 && isHungry(spelt, stray) && hexValue(code) >= 0;
    spelt += isUnreserved(code) && !completes ? String.fromCharCode(code) : text.slice(at, from).toUpperCase();
  }
  return spelt + text.slice(from);
}

/** Whether a stray "%" of which `stray` is the end still lacks hex digits at the end of the text. */
function isHungry(spelt: string, stray: number): boolean {
  return spelt.length === stray || (spelt.length === stray + 1 && hexValue(spelt.charCodeAt(stray)) >= 0);
}

const NO_HEX = -1000; // makes every sum that holds it negative

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NO_HEX;
}

function isUnreserved(code: number): boolean {
  const letter = code | 0x20;
  if (letter >= 0x61 && letter <= 0x7a) return code >= 0x41;
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e || code === 0x5f || code === 0x7e;
}
