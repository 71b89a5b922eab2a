// What is the parser told of a page? The same whether it has just been fetched or is read from where it was stored.

import { sniffForbidden } from "../../core/html/sniff.ts";
import { headerOf, headersOf } from "../../core/http/outcome.ts";
import { policyFor } from "../../core/traps/url-policy.ts";
import { hostKeyOf } from "../../core/url/keys.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import type { ParseRequest } from "../../schemas/parsed-page.ts";

export interface AnsweredPage {
  /** Canonical. */
  url: string;
  /** Of the answer, in order. */
  headers: readonly (readonly [name: string, value: string])[];
  /** After content decoding. */
  bytes: Uint8Array;
}

export function parseRequestOf({ url, headers, bytes }: AnsweredPage, config: CrawlConfig): ParseRequest {
  const { parseMs } = policyFor(config, hostKeyOf(url), url).limits;
  return {
    url,
    bytes,
    contentType: headerOf(headers, "content-type") ?? "",
    robotsTags: headersOf(headers, "x-robots-tag"),
    productToken: config.productToken,
    document: config.documents,
    ...(sniffForbidden(headersOf(headers, "x-content-type-options")) ? { noSniff: true } : {}),
    ...(parseMs < limits.parseMs ? { timeMs: parseMs } : {}),
  };
}
