// Which parts has a canonical URL (what normalizeUrl gives)? Cut by its first slash and question mark, without decoding anything.

export interface UrlParts {
  /** "https://example.org:8443". */
  hostKey: string;
  /** From the first slash to the question mark; "/" at least. */
  path: string;
  /** What follows the question mark; "" also where there is none. */
  query: string;
}

export function urlParts(canonicalUrl: string): UrlParts {
  const slash = canonicalUrl.indexOf("/", canonicalUrl.indexOf("//") + 2);
  if (slash < 0) return { hostKey: canonicalUrl, path: "/", query: "" };
  const mark = canonicalUrl.indexOf("?", slash);
  return {
    hostKey: canonicalUrl.slice(0, slash),
    path: canonicalUrl.slice(slash, mark < 0 ? undefined : mark),
    query: mark < 0 ? "" : canonicalUrl.slice(mark + 1),
  };
}

/** The segments that are not empty. */
export function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** "name=value" or "name", the empty ones left out. */
export function pairsOf(query: string): string[] {
  return query === "" ? [] : query.split("&").filter((pair) => pair !== "");
}

export function nameOf(pair: string): string {
  const equals = pair.indexOf("=");
  return equals < 0 ? pair : pair.slice(0, equals);
}
