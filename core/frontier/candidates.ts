// Which of the URLs of a message may become records? Parsed, in scope and within the limits; each refusal with its reason.
import type { CrawlConfig, TrapLimits } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import type { DiscoverMessage } from "../../schemas/messages.ts";
import type { RefusalReason } from "../../schemas/reasons.ts";
import { priorities, type UrlState } from "../../schemas/url-state.ts";
import { policyFor, type UrlPolicy } from "../traps/url-policy.ts";
import { urlShapeRefusal } from "../traps/url-shape.ts";
import { hostKeyOf, hostNameOf, paceKeyOfHost, urlIdentity } from "../url/keys.ts";
import { normalizeUrl } from "../url/normalize.ts";
import { applyParameterRules } from "../url/parameter-rules.ts";
import { scopeRefusal } from "../url/scope.ts";

export interface Candidate {
  canonicalUrl: string;
  urlId: string;
  hostKey: string;
  paceKey: string;
  /** What its page and pattern may cost. */
  limits: TrapLimits;
  /** How it was spelled before the host's parameter rules; absent where they changed nothing. */
  foundAs?: string;
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
    const { url, hostKey, policy, foundAs } = ruled(normal.url, config);
    if (seen.has(url) || (url !== raw && isKnown(url))) continue;
    seen.add(url);
    const reason = refusalOf(url, message, config, policy);
    if (reason !== undefined) {
      refusals.push({ reason, hostKey, url });
      continue;
    }
    candidates.push({
      canonicalUrl: url,
      ...urlIdentity(url),
      hostKey,
      paceKey: paceKeyOfHost(hostKey),
      limits: policy.limits,
      ...(foundAs === undefined ? {} : { foundAs }),
    });
  }
  return { candidates, refusals };
}

interface Ruled {
  url: string;
  hostKey: string;
  policy: UrlPolicy;
  foundAs?: string;
}

/** The URL as the rules of its host's policy spell it, and the policy of that. */
function ruled(url: string, config: CrawlConfig): Ruled {
  const hostKey = hostKeyOf(url);
  const policy = policyFor(config, hostKey, url);
  if (policy.parameterRules.length === 0) return { url, hostKey, policy };
  const after = applyParameterRules(url, policy.parameterRules);
  if (after === url) return { url, hostKey, policy };
  const newKey = hostKeyOf(after);
  return { url: after, hostKey: newKey, policy: policyFor(config, newKey, after), foundAs: url };
}

function refusalOf(
  url: string,
  message: DiscoverMessage,
  config: CrawlConfig,
  { excluded, limits: allowed }: UrlPolicy,
): RefusalReason | undefined {
  const scope = scopeRefusal(config.scope, url);
  // A sitemap serves pages that the patterns are about; its own URL need not match them.
  if (scope !== undefined && !(scope === "excluded" && message.kind === "sitemap")) return scope;
  if (excluded) return "excluded";
  // Somebody typed a seed, and its shape is no accident.
  const shape = message.source === "seed" ? undefined : urlShapeRefusal(url, allowed, message.from);
  if (shape !== undefined) return shape;
  if (message.depth > allowed.depthMax) return "depth";
  if (message.hops > allowed.redirectHops) return "redirect-hops";
  return undefined;
}

/** The record of a URL that is seen for the first time at `now`. */
export function newUrl(candidate: Candidate, message: DiscoverMessage, now: number): UrlState {
  const urgent = message.source === "seed" || message.kind === "sitemap";
  return {
    canonicalUrl: candidate.canonicalUrl,
    kind: message.kind,
    version: 0,
    docVersion: 0,
    depth: message.depth,
    hops: message.hops,
    priority: urgent ? priorities.urgent : priorities.discovery,
    discoveredAt: now,
    nextFetchAt: now,
    failureCount: 0,
    ...(candidate.foundAs === undefined ? {} : { foundAs: candidate.foundAs }),
    ...voucher(candidate, message),
  };
}

/** sitemaps.org: a sitemap lists the URLs of its own host, and of a host that says itself that they are listed there. */
function voucher({ canonicalUrl }: Candidate, { kind, from }: DiscoverMessage): Pick<UrlState, "vouchedBy"> {
  if (kind !== "sitemap" || from === undefined) return {};
  const vouchedBy = hostNameOf(from);
  return vouchedBy === hostNameOf(canonicalUrl) ? {} : { vouchedBy };
}
