// Why is this URL not being fetched right now? The checks of a grant and an admit in their order, for people who ask.
import type { HostState } from "../../schemas/host-state.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { allowedAt, newHost, withoutExpired } from "../politeness/host-clock.ts";
import type { PacePolicy } from "../politeness/policy.ts";
import type { RobotsJudgement } from "../robots/judge.ts";
import { restAsked } from "./explain.ts";

export type UrlBecause =
  | "in-flight"
  | "not-due" // its time lies ahead
  | "no-due-entry" // due by its record, but no entry of the index leads to it; the next start repairs that
  | "robots-forbidden" // it will be completed without a request
  | "robots-unreachable"
  | "robots-deferred"
  | "robots-missing" // robots.txt is asked for first
  | "address" // the address guard refuses what the name resolves to; it will be completed without a request
  | "paused"
  | "moved"
  | "host-page-limit"
  | "page-limit"
  | "rest-asked"
  | "backoff"
  | "concurrency" // another request to the host is under way
  | "clock"
  | "turn"; // nothing holds it back but the URLs before it

export interface UrlFacts {
  urlId: string;
  record: Pick<UrlState, "nextFetchAt">;
  /** Whether the entry that the record calls for stands in the due index. */
  entryStands: boolean;
  robots: RobotsJudgement;
  host: HostState | undefined;
  policy: PacePolicy;
  pagesLeft: number;
  now: number;
}

export interface UrlExplanation {
  because: UrlBecause;
  /** Unix ms from which that no longer holds, where it is known. */
  at?: number;
}

export function explainUrl(facts: UrlFacts): UrlExplanation {
  const { record, now, urlId } = facts;
  const host = withoutExpired(facts.host ?? newHost(0), now);
  const flight = host.inFlight.find((entry) => entry.urlId === urlId);
  if (flight !== undefined) return { because: "in-flight", at: flight.expiresAt };
  if (record.nextFetchAt > now) return { because: "not-due", at: record.nextFetchAt };
  if (!facts.entryStands) return { because: "no-due-entry" };
  const held = byOwner(facts, host) ?? byRobots(facts) ?? byPages(facts, host) ?? byClock(facts, host);
  return held.because === "turn" && facts.robots.verdict === "missing" ? { because: "robots-missing" } : held;
}

function byOwner({ policy, now }: UrlFacts, host: HostState): UrlExplanation | undefined {
  if (host.movedTo !== undefined) return { because: "moved" };
  if (policy.paused) return { because: "paused" };
  if (host.pausedUntil !== undefined && host.pausedUntil > now) return { because: "paused", at: host.pausedUntil };
  return undefined;
}

function byRobots({ robots }: UrlFacts): UrlExplanation | undefined {
  switch (robots.verdict) {
    case "disallow":
      return { because: "robots-forbidden" };
    case "unreachable":
      return robots.reason === "address" ? { because: "address" } : { because: "robots-unreachable", at: robots.until };
    case "deferred":
      return { because: "robots-deferred", at: robots.until };
    case "allow":
    case "missing": // the request for robots.txt waits for the same clock
      return undefined;
  }
}

function byPages({ policy, pagesLeft }: UrlFacts, host: HostState): UrlExplanation | undefined {
  if (host.pages >= policy.pagesMax) return { because: "host-page-limit" };
  return pagesLeft <= 0 ? { because: "page-limit" } : undefined;
}

function byClock({ policy, now }: UrlFacts, host: HostState): UrlExplanation {
  if (host.backoffUntil > now) return { because: restAsked(host) ? "rest-asked" : "backoff", at: host.backoffUntil };
  if (host.inFlight.length >= policy.concurrency)
    return { because: "concurrency", at: Math.min(...host.inFlight.map((entry) => entry.expiresAt)) };
  const at = allowedAt(host, policy);
  return at > now ? { because: "clock", at } : { because: "turn", at };
}
