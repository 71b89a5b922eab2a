// What has one pass over the markup found? The raw material of links, metadata and text.

export interface Scan {
  /** Distinct href values of a and area in page order, and whether any of a kind may be followed. */
  hrefs: Map<string, boolean>;
  /** Occurrences beyond HREFS_MAX distinct ones, and hrefs over the attribute limit. */
  hrefsBeyond: number;
  hrefsTooLong: number;
  /** The first base element's href. */
  baseHref: string | undefined;
  canonicalHref: string | undefined;
  /** The content of the first meta refresh. */
  refresh: string | undefined;
  title: string;
  language: string | undefined;
  description: string | undefined;
  noindex: boolean;
  nofollow: boolean;
  /** Blanks collapsed, at most limits.textChars. */
  text: string;
  /** Tags that open or close something. */
  tags: number;
  /** Tags, attributes, texts and comments: what a tree of the page would hold at most (a stray </p> makes an element too). */
  nodes: number;
}
