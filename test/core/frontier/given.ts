// The URL records, frontiers and facts that the frontier tests begin with.

import type { ReadyUrl } from "../../../core/frontier/state.ts";
import type { TurnFacts } from "../../../core/frontier/turn.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { host, NOW, policy } from "../politeness/given.ts";

export { flight, host, NOW, policy } from "../politeness/given.ts";
export const DAY = 86_400_000;
export const PACE_KEY = "example.org";

/** The record of a URL that was never asked for. */
export function url(change: Partial<UrlState> = {}): UrlState {
  const canonicalUrl = change.canonicalUrl ?? "http://example.org/a";
  return {
    canonicalUrl,
    kind: "page",
    version: 0,
    docVersion: 0,
    depth: 1,
    hops: 0,
    priority: 1,
    discoveredAt: NOW - DAY,
    nextFetchAt: NOW - DAY,
    failureCount: 0,
    ...change,
  };
}

/** The record of a page that was fetched ten days ago and stands in the index. */
export function visited(change: Partial<UrlState> = {}): UrlState {
  return url({
    version: 3,
    docVersion: 2,
    priority: 2,
    nextFetchAt: NOW - 1_000,
    lastFetchAt: NOW - 10 * DAY,
    lastOutcome: "fetched",
    lastStatus: 200,
    lastLeaseId: "lease-0",
    etag: '"one"',
    lastModified: "Tue, 01 Jan 2030 00:00:00 GMT",
    contentHash: bytes(1),
    simHash: Buffer.from("00ff00ff00ff00ff", "hex"),
    linkSetHash: bytes(9, 8),
    indexed: true,
    changeHistory: [{ afterMs: 7 * DAY, changed: false }],
    ...change,
  });
}

export function bytes(fill: number, length = 20): Uint8Array {
  return new Uint8Array(length).fill(fill);
}

export function ready(path: string, change: Partial<ReadyUrl> = {}): ReadyUrl {
  const hostKey = change.hostKey ?? "http://example.org";
  return {
    urlId: `id-${path}`,
    url: `${hostKey}/${path}`,
    hostKey,
    kind: "page",
    version: 0,
    priority: 1,
    dueAt: NOW - 1_000,
    attempt: 0,
    ...change,
  };
}

/** A host never asked, whose robots.txt allows all. */
export function facts(change: Partial<TurnFacts> = {}): TurnFacts {
  let drawn = 0;
  return {
    paceKey: PACE_KEY,
    host: host(),
    policy: policy(),
    judge: () => ({ verdict: "allow" }),
    now: NOW,
    epoch: 4,
    draw: () => `lease-${drawn++}`,
    ...change,
  };
}
