// What goes into the parsing of a page and what comes out? The shapes of ports/parser.ts, which core may not import; io/parsing binds
// them, and the type checker holds the two equal.

export interface PageRequest {
  url: string;
  bytes: Uint8Array;
  contentType: string;
  robotsTags: string[];
  productToken: string;
  document: boolean;
}

export interface Page {
  ok: true;
  links: string[];
  refused: Refused;
  title: string;
  canonical?: string;
  refresh?: string;
  noindex: boolean;
  nofollow: boolean;
  simHash: string;
  linkSetHash: Uint8Array;
  language?: string;
  quality: { textChars: number; linkCount: number; textRatioPercent: number; hasTitle: boolean };
  document?: PageText;
}

/** Distinct hrefs that became no link. `malformed` holds those too long for a URL as well. */
export interface Refused {
  nofollow: number;
  malformed: number;
  scheme: number;
  fanOut: number;
}

export interface PageText {
  text: string;
  headings: { level: number; text: string }[];
  description?: string;
  structuredData: string[];
}
