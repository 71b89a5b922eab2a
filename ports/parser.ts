// A body becomes links, metadata and, where an index would take it, a document.

import type { ParsedPage, ParseRequest } from "../schemas/parsed-page.ts";

export interface ParseFailure {
  ok: false;
  /** `busy`: the pool is full or stalled, try later; the others are the page's own fault. */
  reason: "busy" | "timeout" | "memory" | "error";
  detail: string;
}

export interface Parser {
  parse(request: ParseRequest): Promise<ParsedPage | ParseFailure>;
  close(): Promise<void>;
}
