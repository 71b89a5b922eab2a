// Which URLs of a message must become records? Those within the crawl's limits, in their one spelling.
import { hostNameOf, registrableDomain } from "../../../core/url/keys.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import type { DiscoverMessage } from "../../../schemas/messages.ts";

const URL_CHARS = 2_048;
const HOPS_MAX = 10;

/** Whether the message's place in the crawl leaves its URLs in question; include and exclude patterns are not judged here. */
export function mayLead({ depth, hops }: DiscoverMessage, { depthMax, scope }: CrawlConfig): boolean {
  return depth <= depthMax && hops <= HOPS_MAX && scope.rules.length === 0;
}

/** The URL without fragment, or undefined where it is none that the crawl takes. */
export function wantedUrl(raw: string, { scope }: CrawlConfig): string | undefined {
  const url = URL.parse(raw);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  url.hash = "";
  if (url.href.length > URL_CHARS) return undefined;
  if (scope.mode === "any") return url.href;
  const name = hostNameOf(url.href);
  if (scope.mode === "host") return scope.hosts.includes(name) ? url.href : undefined;
  return scope.domains.includes(registrableDomain(name)) ? url.href : undefined;
}
