// What is in this body? The world knows of its own pages, without reading them; the real parser reads every sixteenth, and must agree.
import { isDeepStrictEqual } from "node:util";
import type { Parser } from "../../ports/parser.ts";
import type { ParsedPage } from "../../schemas/parsed-page.ts";
import { hashOf } from "./chance.ts";
import { parsedOf, type SimPage } from "./pages.ts";

const pages = new WeakMap<Uint8Array, SimPage>();

/** Tells the parser whose bytes these are. */
export function notePage(bytes: Uint8Array, page: SimPage): void {
  pages.set(bytes, page);
}

const READ_ONE_IN = 16;

export interface WorldParserCounts {
  pagesAnswered: number;
  pagesRead: number;
}

/**
 * Bytes that are no page as it was sent, such as those read back from the archive, and whatever asks for a document go to `real`. So does
 * a share of the pages that follows from the page alone; `disagreed` is told where the world would have answered otherwise.
 */
export function worldParser(
  real: Parser,
  disagreed: (words: string) => void,
  counts: WorldParserCounts = { pagesAnswered: 0, pagesRead: 0 },
): Parser {
  return {
    parse(request) {
      const page = pages.get(request.bytes);
      if (page === undefined || request.document || request.robotsTags.length > 0) return real.parse(request);
      counts.pagesAnswered++;
      const known = parsedOf(page, request.bytes.length);
      if (hashOf(page.host.index, page.page, page.version) % READ_ONE_IN !== 0) return Promise.resolve(known);
      counts.pagesRead++;
      return real.parse(request).then((read) => {
        if (!isDeepStrictEqual(read, known)) disagreed(`${request.url}: ${differing(known, read)}`);
        return read;
      });
    },
    close: () => real.close(),
  };
}

function differing(known: ParsedPage, read: object): string {
  const fields = Object.entries(known).filter(
    ([name, value]) => !isDeepStrictEqual(value, (read as Record<string, unknown>)[name]),
  );
  return fields.length === 0
    ? "the parser found more than the world has"
    : `${JSON.stringify(Object.fromEntries(fields))} in the world, another in the parser`;
}
