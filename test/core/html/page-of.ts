// How do tests parse a page? A request with the usual values, of which each test says only what matters to it.
import { parsePage } from "../../../core/html/page.ts";
import type { ParsedPage, ParseRequest } from "../../../schemas/parsed-page.ts";

export function pageOf(markup: string | Uint8Array, changes: Partial<ParseRequest> = {}): ParsedPage {
  return parsePage({
    url: "http://example.org/d/me.html",
    bytes: typeof markup === "string" ? Buffer.from(markup) : markup,
    contentType: "text/html; charset=utf-8",
    robotsTags: [],
    productToken: "OurBot",
    document: false,
    ...changes,
  });
}
