// What is in this body? Links, metadata and visible text of every page by one pass; the document, read along with it, of those that an index takes.

import { limits } from "../../schemas/limits.ts";
import type { ParsedDocument, ParsedPage, ParseRequest } from "../../schemas/parsed-page.ts";
import { linkSetHash } from "../content/digest.ts";
import { simHash } from "../content/simhash.ts";
import { bodyClass, parseContentType } from "../http/content-type.ts";
import { type RobotsDirectives, robotsDirectives } from "../http/robots-tag.ts";
import { normalizeUrl } from "../url/normalize.ts";
import { type DecodedText, decodeMarkup, decodePlain } from "./charset.ts";
import { DocumentReader } from "./document.ts";
import { baseOf, linksOf } from "./links.ts";
import { withEncodedQuery } from "./query-encoding.ts";
import { scanMarkup } from "./scan.ts";
import type { Scan } from "./scan-result.ts";
import { typeOf } from "./sniff.ts";
import { collapse, refreshTarget } from "./values.ts";

/** Never throws; time and memory are linear in the body. A body that is neither markup nor text gives an empty page. */
export function parsePage(request: ParseRequest): ParsedPage {
  const { type: told, charset } = parseContentType(request.contentType);
  const type = typeOf(request.bytes, told, request.contentType, request);
  const header = robotsDirectives(request.robotsTags, request.productToken);
  const kind = bodyClass(type, request.url, []);
  if (kind === "text") return textPage(request, decodePlain(request.bytes, charset).text, header);
  if (kind === undefined) return textPage(request, "", header);
  const decoded = decodeMarkup(request.bytes, charset);
  return markupPage(request, decoded, { header, xml: kind !== "html" || type === "application/xhtml+xml" });
}

type Reading = { header: RobotsDirectives; xml: boolean };

function markupPage(request: ParseRequest, { text: markup, charset }: DecodedText, how: Reading): ParsedPage {
  const reader = request.document && !how.header.noindex ? new DocumentReader() : undefined;
  const scan = scanMarkup(markup, { xml: how.xml, productToken: request.productToken, reader });
  const noindex = scan.noindex || how.header.noindex;
  const nofollow = scan.nofollow || how.header.nofollow;
  const base = baseOf(scan, request.url);
  const { links, refused } = linksOf(scan, { base, charset, nofollow });
  return {
    ok: true,
    links,
    refused,
    title: scan.title,
    ...targetsOf(scan, base, charset),
    noindex,
    nofollow,
    simHash: simHash(scan.text),
    linkSetHash: linkSetHash(links),
    quality: {
      textChars: scan.text.length,
      linkCount: scan.hrefs.size + scan.hrefsBeyond,
      textRatioPercent: percentOf(scan.text.length, markup.length),
      hasTitle: scan.title !== "",
    },
    ...(reader !== undefined && !noindex ? { document: reader.finish(scan) } : {}),
  };
}

/** What is absent is left out. */
function targetsOf(scan: Scan, base: string, charset: string): Pick<ParsedPage, "canonical" | "refresh" | "language"> {
  const refresh = scan.refresh === undefined ? undefined : refreshTarget(scan.refresh);
  const targets: Pick<ParsedPage, "canonical" | "refresh" | "language"> = {};
  const canonicalUrl = absolute(scan.canonicalHref, base, charset);
  const refreshUrl = absolute(refresh, base, charset);
  if (canonicalUrl !== undefined) targets.canonical = canonicalUrl;
  if (refreshUrl !== undefined) targets.refresh = refreshUrl;
  if (scan.language !== undefined) targets.language = scan.language;
  return targets;
}

function absolute(href: string | undefined, base: string, charset: string): string | undefined {
  const target = href === undefined ? undefined : normalizeUrl(withEncodedQuery(href, charset), base);
  return target?.ok ? target.url : undefined;
}

function textPage(request: ParseRequest, body: string, header: RobotsDirectives): ParsedPage {
  const text = body.slice(0, limits.textChars).trim();
  const shown = collapse(text);
  const document: ParsedDocument = { text, headings: [], structuredData: [] };
  return {
    ok: true,
    links: [],
    refused: { nofollow: 0, malformed: 0, scheme: 0, fanOut: 0 },
    title: "",
    ...header,
    simHash: simHash(shown),
    linkSetHash: linkSetHash([]),
    quality: { textChars: shown.length, linkCount: 0, textRatioPercent: percentOf(shown.length, body.length), hasTitle: false },
    ...(request.document && !header.noindex ? { document } : {}),
  };
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(100, Math.round((100 * part) / whole));
}
