// What goes into the parsing of a page, and what comes out? It crosses to the parser threads and back as it is.

export interface ParseRequest {
  /** The URL it was fetched from, absolute. */
  url: string;
  bytes: Uint8Array;
  /** The Content-Type header, or "". */
  contentType: string;
  /** X-Content-Type-Options: nosniff. */
  noSniff?: boolean;
  /** X-Robots-Tag header values, in order. */
  robotsTags: string[];
  productToken: string;
  /** Whether a document is wanted. */
  document: boolean;
  /** How long the parse may take, where that is less than the parser's own limit. */
  timeMs?: number;
}

export interface ParsedPage {
  ok: true;
  /** Absolute canonical http(s) URLs without fragment, each once, in page order, nofollow ones left out. */
  links: string[];
  refused: RefusedLinks;
  title: string;
  canonical?: string;
  /** meta refresh target, absolute. */
  refresh?: string;
  noindex: boolean;
  nofollow: boolean;
  /** Lower-case hex, 16 digits, over the visible text. */
  simHash: string;
  /** First 8 bytes of SHA-256 over the links. */
  linkSetHash: Uint8Array;
  language?: string;
  quality: { textChars: number; linkCount: number; textRatioPercent: number; hasTitle: boolean };
  document?: ParsedDocument;
}

/** Distinct hrefs that became no link. `malformed` holds those too long for a URL as well. */
export interface RefusedLinks {
  nofollow: number;
  malformed: number;
  scheme: number;
  fanOut: number;
}

export interface ParsedDocument {
  text: string;
  headings: { level: number; text: string }[];
  description?: string;
  structuredData: string[];
}
