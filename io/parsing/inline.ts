// How is a page parsed where a seed must decide everything? At once, on the caller's thread: nothing but microtasks.
import { parsePage } from "../../core/html/page.ts";
import type { ParseFailure, Parser } from "../../ports/parser.ts";
import type { ParsedPage, ParseRequest } from "../../schemas/parsed-page.ts";

/** Never busy, and without limits of time and memory. */
export function inlineParser(): Parser {
  return {
    async parse(request) {
      return parseSafely(request);
    },
    async close() {},
  };
}

/** A fault of ours or a library's on some page costs that page, not the crawl. */
export function parseSafely(request: ParseRequest): ParsedPage | ParseFailure {
  try {
    return parsePage(request);
  } catch (error) {
    return { ok: false, reason: "error", detail: error instanceof Error ? error.message : String(error) };
  }
}
