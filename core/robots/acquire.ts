// What does an answer to a request for robots.txt make of what is known? The acquisition of RFC 9309 2.3.1, as a table of steps.
//
// Every answer falls into one event, whatever state it meets; the state before only lends what outlives the answer: the last body,
// the count of failures, the place in a chain of redirects.
//
//   rules         2xx                              rules        until max-age, at most 24 h (2.4)
//   not-modified  304 to a conditional request     rules        the former body, renewed
//   unavailable   4xx but 429                      allow-all    as long as rules (2.3.1.3)
//   throttled     429                              deferred     until Retry-After, or the back-off: the host asked for rest, it
//                                                               neither allowed nor forbade anything
//   redirect      301 302 303 307 308              redirecting  to the next hop, at once (2.3.1.2)
//   put-off       the target's clock refused       redirecting  until that clock allows; the place in the chain stands
//   unreachable   5xx, no answer, a broken body, a refused address, a redirect without end or to nowhere, any other status
//                                                  unreachable  complete disallow, asked again with doubling delay (2.3.1.4)
//
// Where the RFC leaves a choice, we disallow. After 30 days without an answer it MAY be taken for unavailable, and a chain of more
// than five hops too: a server in trouble for a month has not said yes, and opening every broken host after a month would send a crawl
// to just those. The exception of 2.4, that a cached copy may serve while unreachable, is not taken either: 2.3.1.4's disallow is a
// MUST, and a host that answers 5xx is best left alone. The body is kept all the same, for a 304 when the host is back.
import { limits } from "../../schemas/limits.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { eventOf, hopsOf, type RobotsAnswer, type RobotsEvent, type RobotsResponse } from "./answer.ts";

export { type RobotsAnswer, robotsRequestHeaders } from "./answer.ts";

export interface RobotsStep {
  state: RobotsState;
  /** The URL to ask at once, where the answer was a redirect. */
  next?: string;
}

/**
 * The state after `answer` came at `now` (Unix ms). `jitter`, 0 to 1, spreads the retries. A chain of redirects goes on from a state
 * `redirecting`: ask its `target`, not robotsUrl(). `crawlDelayMs` needs the product token, so the caller sets it on fresh rules; here
 * it is only kept as long as the body it came from.
 */
export function acquireRobots(before: RobotsState | undefined, answer: RobotsAnswer, now: number, jitter: number): RobotsStep {
  const event = eventOf(before, answer);
  const input: Input<RobotsEvent> = { before, event, now, jitter };
  return (steps[event.kind] as (input: Input<RobotsEvent>) => RobotsStep)(input);
}

/** Where a host key's rules are: RFC 9309 2.3. The key is scheme and authority, port and all. */
export function robotsUrl(hostKey: string): string {
  return `${hostKey.replace(/\/$/, "")}/robots.txt`;
}

interface Input<E extends RobotsEvent> {
  before: RobotsState | undefined;
  event: E;
  now: number;
  jitter: number;
}

const steps: { [K in RobotsEvent["kind"]]: (input: Input<Extract<RobotsEvent, { kind: K }>>) => RobotsStep } = {
  rules: ({ before, event, now }) => ({
    state: {
      ...answered("rules", event.response, now),
      body: event.body,
      ...validatorsOf(event.response),
      ...(before?.status === "redirecting" && { target: event.response.url, hop: hopsOf(before) }),
    },
  }),
  "not-modified": ({ before, event, now }) => ({
    state: { ...answered("rules", event.response, now), ...kept(before), ...validatorsOf(event.response) },
  }),
  unavailable: ({ event, now }) => ({ state: answered("allow-all", event.response, now) }),
  throttled: ({ before, event, now, jitter }) => {
    const failures = failuresAfter(before);
    const waitMs = askedFor(event.response) ?? retryMs(failures, jitter);
    return { state: { ...answered("deferred", event.response, now), ...kept(before), expiresAt: now + waitMs, failures } };
  },
  redirect: ({ before, event, now }) => ({
    state: {
      ...underWay(before),
      ...{ fetchedAt: now, expiresAt: now, httpStatus: event.status, target: event.target, hop: event.hop },
    },
    next: event.target,
  }),
  "put-off": ({ before, event, now }) => {
    const expiresAt = Math.max(now, Math.min(Math.ceil(event.until) || now, now + limits.retryAfterMsMax));
    const fetchedAt = before?.fetchedAt ?? now;
    return { state: { ...underWay(before), fetchedAt, expiresAt, target: event.target, hop: event.hop } };
  },
  unreachable: ({ before, event, now, jitter }) => {
    const failures = failuresAfter(before);
    const waitMs = Math.max(askedFor(event.response) ?? 0, retryMs(failures, jitter));
    const unreachableSince = before?.unreachableSince ?? now;
    const status = event.response && { httpStatus: event.response.status };
    const outlives = { ...kept(before), ...status, failures, unreachableSince };
    return { state: { status: "unreachable", fetchedAt: now, expiresAt: now + waitMs, reason: event.reason, ...outlives } };
  },
};

/** A new answer of a server, good for as long as it says and we bear. */
function answered(status: RobotsState["status"], response: RobotsResponse, now: number): RobotsState {
  return { status, fetchedAt: now, expiresAt: now + freshMs(response.maxAgeMs), httpStatus: response.status };
}

/** A short max-age would have us ask for robots.txt before every page: it is kept for an hour at least. */
const ROBOTS_CACHE_MS_MIN = 60 * 60 * 1000;

function freshMs(maxAgeMs: number | undefined): number {
  if (maxAgeMs === undefined || !(maxAgeMs >= 0)) return limits.robotsCacheMs;
  return Math.ceil(Math.min(limits.robotsCacheMs, Math.max(ROBOTS_CACHE_MS_MIN, maxAgeMs)));
}

type Validators = Pick<RobotsState, "etag" | "lastModified">;

function validatorsOf({ etag, lastModified }: Validators): Validators {
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
}

/** The last body, its delay, and its validators while they are the origin's. */
function kept(before: RobotsState | undefined): Partial<RobotsState> {
  if (before?.body === undefined) return {};
  const validators = before.target === undefined ? validatorsOf(before) : {};
  const delay = before.crawlDelayMs === undefined ? {} : { crawlDelayMs: before.crawlDelayMs };
  return { body: before.body, ...delay, ...validators };
}

/** A chain that has not ended settles nothing: failures and their beginning are carried along. */
function underWay(before: RobotsState | undefined): Pick<RobotsState, "status"> & Partial<RobotsState> {
  const { etag: _etag, lastModified: _lastModified, ...body } = kept(before);
  return {
    status: "redirecting",
    ...body,
    ...(before?.failures !== undefined && { failures: before.failures }),
    ...(before?.unreachableSince !== undefined && { unreachableSince: before.unreachableSince }),
  };
}

function failuresAfter(before: RobotsState | undefined): number {
  return (before?.failures ?? 0) + 1;
}

function askedFor(response: RobotsResponse | undefined): number | undefined {
  const waitMs = response?.retryAfterMs;
  return waitMs !== undefined && waitMs > 0 ? Math.ceil(Math.min(waitMs, limits.retryAfterMsMax)) : undefined;
}

/** What jitter adds at most, as a share of the delay. */
const JITTER_SHARE = 0.25;

/** From limits.robotsUnreachableRetryMs on doubling with each failure in a row, jitter included at most limits.robotsCacheMs. */
function retryMs(failures: number, jitter: number): number {
  const longest = limits.robotsCacheMs / (1 + JITTER_SHARE);
  const delay = Math.min(longest, limits.robotsUnreachableRetryMs * 2 ** (failures - 1));
  return Math.round(delay * (1 + JITTER_SHARE * Math.min(1, Math.max(0, jitter || 0))));
}
