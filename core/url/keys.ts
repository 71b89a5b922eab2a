// What names a URL, its host and its clock? Keys taken from canonical URLs (what normalizeUrl gives) alone.
import { hash } from "node:crypto";
import { getDomain } from "tldts";

export interface UrlIdentity {
  /** 128 bits as 22 characters of base64url. */
  urlId: string;
}

const ID_DIGITS = 22; // 21 of six bits, and one of two

/** The first 128 bits of SHA-256 of the URL are its id. */
export function urlIdentity(canonicalUrl: string): UrlIdentity {
  // A digest as text costs a quarter of one in a buffer, and this is done for every link.
  const digest = hash("sha256", canonicalUrl, "base64url");
  return { urlId: digest.slice(0, ID_DIGITS - 1) + HIGH_BITS[digest.charCodeAt(ID_DIGITS - 1)] };
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** By the code of a digit, that of its two highest bits alone: the 22nd digit of a whole digest has four bits that are not of the id. */
const HIGH_BITS = Object.fromEntries([...DIGITS].map((digit, value) => [digit.charCodeAt(0), DIGITS[value & 0x30]]));

/** For a URL whose id is held by another: the digest's second half. */
export function alternateIdentity(canonicalUrl: string): UrlIdentity {
  const digest = hash("sha256", canonicalUrl, "buffer");
  return {
    urlId: digest.toString("base64url", digest.length / 2),
  };
}

/** Scheme and authority, the default port left out: "https://example.org:8443". What robots.txt belongs to. */
export function hostKeyOf(canonicalUrl: string): string {
  const end = canonicalUrl.indexOf("/", canonicalUrl.indexOf("//") + 2);
  return end < 0 ? canonicalUrl : canonicalUrl.slice(0, end);
}

/**
 * Whose clock a host runs by. By "host": the name without scheme, with the port where it is not the scheme's default, so that http
 * and https of a host share one. By "domain": the registrable domain, whatever the port.
 */
export function paceKeyOfHost(hostKey: string, by: "host" | "domain" = "host"): string {
  const authority = hostKey.slice(hostKey.indexOf("//") + 2);
  return by === "host" ? authority : registrableDomain(withoutPort(authority));
}

/** The host name without port; an IPv6 address stands in brackets. */
export function hostNameOf(canonicalUrl: string): string {
  const hostKey = hostKeyOf(canonicalUrl);
  return withoutPort(hostKey.slice(hostKey.indexOf("//") + 2));
}

function withoutPort(authority: string): string {
  const colon = authority.lastIndexOf(":");
  return colon > authority.lastIndexOf("]") ? authority.slice(0, colon) : authority;
}

/**
 * The public suffix and one label more. Private suffixes count (a.github.io and b.github.io are two owners' domains, and neither
 * may spend the other's pace). An address, a single label, a public suffix or a name that begins with a dot is its own domain.
 */
export function registrableDomain(host: string): string {
  const name = host.toLowerCase();
  if (name.startsWith(".")) return name;
  return getDomain(name, { allowPrivateDomains: true, extractHostname: false, validateHostname: false }) ?? name;
}
