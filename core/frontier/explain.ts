// Why is this host not being fetched right now? One verdict from the facts of the records, for people who ask.
import type { HostState } from "../../schemas/host-state.ts";
import { failureReasons, type Outcome } from "../../schemas/reasons.ts";
import { newHost, withoutExpired } from "../politeness/host-clock.ts";
import type { PacePolicy } from "../politeness/policy.ts";
import { type HostOutlook, hostOutlook, type PendingUrl } from "./outlook.ts";

export const verdicts = [
  "politeness-bound", // URLs are due, and the host's clock decides when
  "robots-bound", // robots.txt forbids what there is, or cannot be had
  "failing",
  "budget", // a page limit, of the host or of the crawl
  "paused",
  "idle", // nothing pending but revisits
  "unknown-host",
] as const;
export type Verdict = (typeof verdicts)[number];

export type Because =
  | "turn" // only the host's clock
  | "in-flight" // a request is booked and its answer not yet heard
  | "rest-asked" // 429 or Retry-After
  | "backoff"
  | "retry"
  | "given-up" // every URL failed until its retries were spent
  | "address" // the address guard refuses what the name resolves to
  | "robots-forbidden"
  | "robots-unreachable"
  | "robots-deferred"
  | "host-page-limit"
  | "host-day-budget"
  | "page-limit"
  | "paused"
  | "moved"
  | "nothing-pending"
  | "never-seen";

export interface HostFacts {
  /** undefined: the host was never asked for anything. */
  host: HostState | undefined;
  policy: PacePolicy;
  /** Some of its first fetches and retries, earliest first. */
  pending: readonly PendingUrl[];
  /** How some of its other URLs ended last. */
  settled: Readonly<Partial<Record<Outcome, number>>>;
  /** Pages that the whole crawl may still ask for. */
  pagesLeft: number;
  now: number;
}

export interface Explanation {
  verdict: Verdict;
  because: Because;
  /** Unix ms from which a request can be made, as far as is known. */
  at?: number;
  /** The URL that is first in line. */
  url?: string;
}

export function explainHost(facts: HostFacts): Explanation {
  const { host, pending, settled, pagesLeft, policy, now } = facts;
  if (host === undefined && pending.length === 0 && Object.keys(settled).length === 0)
    return { verdict: "unknown-host", because: "never-seen" };
  const outlook = hostOutlook(host ?? newHost(0), policy, pending, now);
  if (outlook.kind === "idle") return resting(settled);
  const { at, url } = outlook;
  const why = whyWaiting(facts, outlook);
  if (pagesLeft <= 0 && why.verdict !== "paused") return { verdict: "budget", because: "page-limit", url };
  return why.verdict === "paused" || why.verdict === "budget" ? { ...why, url } : { ...why, at, url };
}

type Why = Pick<Explanation, "verdict" | "because">;

function whyWaiting({ host, pending, now }: HostFacts, { reason, url }: Extract<HostOutlook, { kind: "pending" }>): Why {
  switch (reason) {
    case "paused":
    case "moved":
      return { verdict: "paused", because: reason };
    case "page-limit":
      return { verdict: "budget", because: "host-page-limit" };
    case "day-budget":
      return { verdict: "budget", because: "host-day-budget" };
    case "unheard":
      return { verdict: "politeness-bound", because: "in-flight" };
    case "backoff":
      return restAsked(withoutExpired(host ?? newHost(0), now))
        ? { verdict: "politeness-bound", because: "rest-asked" }
        : { verdict: "failing", because: "backoff" };
    case "retry":
      return { verdict: "failing", because: "retry" };
    case "robots-deferred":
      return { verdict: "robots-bound", because: "robots-deferred" };
    case "robots-unreachable":
      return { verdict: isDown(pending, url) ? "failing" : "robots-bound", because: "robots-unreachable" };
    case "turn":
      return whySettled(pending) ?? { verdict: "politeness-bound", because: "turn" };
  }
}

/** URLs that wait for their turn, but for no request: they are completed as forbidden. */
function whySettled(pending: readonly PendingUrl[]): Why | undefined {
  if (pending.every(({ robots }) => robots.verdict === "disallow"))
    return { verdict: "robots-bound", because: "robots-forbidden" };
  const refused = pending.every(({ robots }) => robots.verdict === "unreachable" && robots.reason === "address");
  return refused ? { verdict: "failing", because: "address" } : undefined;
}

/** A Retry-After beside an answer that is no trouble leaves no reason, and 429 says nothing but: later. */
export function restAsked({ backoffReason }: HostState): boolean {
  return backoffReason === undefined || backoffReason === "429";
}

const FAILURES: ReadonlySet<string> = new Set(failureReasons);

/** robots.txt could not be had because the host cannot be reached at all. */
function isDown(pending: readonly PendingUrl[], url: string): boolean {
  const robots = pending.find((entry) => entry.url === url)?.robots;
  return robots?.verdict === "unreachable" && FAILURES.has(robots.reason ?? "");
}

/** Nothing is pending: the host is done for now, unless nothing of it could ever be had. */
function resting(settled: HostFacts["settled"]): Explanation {
  const count = (...outcomes: Outcome[]): number => outcomes.reduce((sum, outcome) => sum + (settled[outcome] ?? 0), 0);
  const forbidden = count("robots");
  const refused = count("address");
  const lost = count("failed", "server-error", "throttled", "poisoned");
  const all = Object.values(settled).reduce((sum, each) => sum + each, 0);
  if (all > forbidden + refused + lost || all === 0) return { verdict: "idle", because: "nothing-pending" };
  if (forbidden >= Math.max(refused, lost)) return { verdict: "robots-bound", because: "robots-forbidden" };
  return { verdict: "failing", because: refused >= lost ? "address" : "given-up" };
}
