// Which of the URLs of a message may become records? Parsed, in scope and within the limits; each refusal with its reason.
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import type { DiscoverMessage } from "../../schemas/messages.ts";
import type { RefusalReason } from "../../schemas/reasons.ts";
import { priorities, type UrlState } from "../../schemas/url-state.ts";
import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../url/keys.ts";
import { normalizeUrl } from "../url/normalize.ts";
import { scopeRefusal } from "../url/scope.ts";

export interface Candidate {
  canonicalUrl: string;
  urlId: string;
  check: Uint8Array;
  hostKey: string;
  paceKey: string;
}

export interface Refusal {
  reason: RefusalReason;
  /** "" where the URL has none. */
  hostKey: string;
  url: string;
}

/** `isKnown`: this spelling is a canonical URL whose record stands, so that nothing need be done for it. Most links lead to such. */
export function candidatesOf(
  message: DiscoverMessage,
  config: CrawlConfig,
  isKnown: (url: string) => boolean = () => false,
): { candidates: Candidate[]; refusals: Refusal[] } {
  const candidates: Candidate[] = [];
  const refusals: Refusal[] = [];
  const seen = new Set<string>();
  for (const raw of message.urls) {
    if (isKnown(raw)) continue;
    const normal = normalizeUrl(raw);
    if (!normal.ok) {
      refusals.push({ reason: normal.reason, hostKey: "", url: raw.slice(0, limits.urlLength) });
      continue;
    }
    const { url } = normal;
    if (seen.has(url) || (url !== raw && isKnown(url))) continue;
    seen.add(url);
    const hostKey = hostKeyOf(url);
    const reason = refusalOf(url, message, config);
    if (reason !== undefined) {
      refusals.push({ reason, hostKey, url });
      continue;
    }
    candidates.push({ canonicalUrl: url, ...urlIdentity(url), hostKey, paceKey: paceKeyOfHost(hostKey) });
  }
  return { candidates, refusals };
}

function refusalOf(url: string, message: DiscoverMessage, config: CrawlConfig): RefusalReason | undefined {
  const scope = scopeRefusal(config.scope, url);
  // A sitemap serves pages that the patterns are about; its own URL need not match them.
  if (scope !== undefined && !(scope === "excluded" && message.kind === "sitemap")) return scope;
  if (message.depth > config.depthMax) return "depth";
  if (message.hops > limits.redirectHops) return "redirect-hops";
  return undefined;
}

/** The record of a URL that is seen for the first time at `now`. */
export function newUrl(candidate: Candidate, message: DiscoverMessage, now: number): UrlState {
  const urgent = message.source === "seed" || message.kind === "sitemap";
  return {
    canonicalUrl: candidate.canonicalUrl,
    check: candidate.check,
    kind: message.kind,
    version: 0,
    docVersion: 0,
    depth: message.depth,
    hops: message.hops,
    priority: urgent ? priorities.urgent : priorities.discovery,
    discoveredAt: now,
    nextFetchAt: now,
    failureCount: 0,
  };
}
