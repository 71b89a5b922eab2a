// What has one pass over the markup found? The raw material of links, metadata and text, and who may read along.

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
}

/** Of one element, by lower-case name: those that the pass wants, as they were first written. */
export type Attributes = Partial<Record<string, string>>;

/** Reads along with the pass, in page order. Tags come as written: some end nothing, and some ends are not there. */
export interface ScanReader {
  /** `isEmpty`: the tag closed itself. */
  onStart(name: string, attributes: Attributes, isEmpty: boolean): void;
  /** What is shown or not, scripts too; references decoded. */
  onText(piece: string): void;
  onEnd(name: string): void;
}
