// Which URLs that were published must have records, and which have none? Looked up in the tables, in their one spelling.
import { alternateIdentity, hostKeyOf, paceKeyOfHost, urlIdentity } from "../../../core/url/keys.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import type { DiscoverMessage } from "../../../schemas/messages.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import type { FinalState } from "./checker.ts";
import { kept } from "./kept.ts";
import { urlRows } from "./tables.ts";
import type { UrlPattern, UrlRules } from "./url-rules.ts";

const HOPS_MAX = 10;

/** Whether the message's place in the crawl leaves its URLs in question; include and exclude patterns are not judged here. */
export function mayLead({ depth, hops }: Pick<DiscoverMessage, "depth" | "hops">, { depthMax, scope }: CrawlConfig): boolean {
  return depth <= depthMax && hops <= HOPS_MAX && scope.rules.length === 0;
}

/** Records of each pattern that has a limit, by its name. */
export async function patternSizes(
  final: FinalState,
  rules: UrlRules,
): Promise<Map<string, UrlPattern & { urls: UrlState[] }>> {
  const sizes = new Map<string, UrlPattern & { urls: UrlState[] }>();
  for await (const rows of urlRows(final)) {
    for (const { record } of rows) {
      const pattern = rules.patternOf(record.canonicalUrl);
      if (pattern !== undefined) kept(sizes, pattern.name, () => ({ ...pattern, urls: [] })).urls.push(record);
    }
  }
  return sizes;
}

/** How far an estimate of so many distinct URLs may be off: a sketch of 512 registers, four times its error. */
export function sketchError(urls: number): number {
  return Math.ceil(4 * Math.max(2, 0.046 * urls));
}

const BATCH = 1_000;

/** Of these canonical URLs those without a record, but for URLs of patterns that are full. */
export async function withoutRecords(final: FinalState, rules: UrlRules, urls: Iterable<string>): Promise<string[]> {
  const { tables } = final;
  const missing: string[] = [];
  const all = [...urls];
  for (let from = 0; from < all.length; from += BATCH) {
    const batch = all.slice(from, from + BATCH);
    const rows = await tables.urls.get(batch.map((url) => keyOf(url, urlIdentity(url).urlId)));
    for (const [index, url] of batch.entries()) {
      if (holds(rows[index]?.value, url)) continue;
      const [other] = await tables.urls.get([keyOf(url, alternateIdentity(url).urlId)]);
      if (!holds(other?.value, url)) missing.push(url);
    }
  }
  if (missing.length === 0) return missing;
  const sizes = await patternSizes(final, rules);
  return missing.filter((url) => {
    const pattern = rules.patternOf(url);
    const size = pattern === undefined ? 0 : (sizes.get(pattern.name)?.urls.length ?? 0);
    return pattern === undefined || size < pattern.urlsMax - sketchError(pattern.urlsMax);
  });
}

function keyOf(url: string, urlId: string): string {
  return rowKey(paceKeyOfHost(hostKeyOf(url)), urlId);
}

function holds(record: UrlState | undefined, url: string): boolean {
  return record?.canonicalUrl === url;
}
