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

export function candidatesOf(message: DiscoverMessage, config: CrawlConfig): { candidates: Candidate[]; refusals: Refusal[] } {
  const candidates: Candidate[] = [];
  const refusals: Refusal[] = [];
  const seen = new Set<string>();
  for (const raw of message.urls) {
    const normal = normalizeUrl(raw);
    if (!normal.ok) {
      refusals.push({ reason: normal.reason, hostKey: "", url: raw.slice(0, limits.urlLength) });
      continue;
    }
    const { url } = normal;
    const hostKey = hostKeyOf(url);
    const reason = refusalOf(url, message, config);
    if (reason !== undefined) {
      refusals.push({ reason, hostKey, url });
      continue;
    }
    const { urlId, check } = urlIdentity(url);
    if (seen.has(urlId)) continue;
    seen.add(urlId);
    candidates.push({ canonicalUrl: url, urlId, check, hostKey, paceKey: paceKeyOfHost(hostKey) });
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
