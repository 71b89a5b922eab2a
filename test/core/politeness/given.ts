// The hosts, leases and allowances that the politeness tests begin with.
import type { AdmitRequest } from "../../../core/politeness/admit.ts";
import { newHost } from "../../../core/politeness/host-clock.ts";
import type { PacePolicy } from "../../../core/politeness/policy.ts";
import type { Flight, HostState } from "../../../schemas/host-state.ts";
import type { FetchLease } from "../../../schemas/lease.ts";

/** Far from 0, so that "never" and "long ago" differ. */
export const NOW = 1_900_000_000_000;

export function host(change: Partial<HostState> = {}): HostState {
  return { ...newHost(1), ...change };
}

export function policy(change: Partial<PacePolicy> = {}): PacePolicy {
  return {
    delayMs: 1000,
    concurrency: 1,
    latencyFactor: 1,
    requestMs: 30_000,
    pagesMax: 100,
    dayBudget: { pagesPerDay: 1_000_000, bytesPerDay: 1_000_000_000 },
    paused: false,
    version: 7,
    ...change,
  };
}

export function lease(change: Partial<FetchLease> = {}): FetchLease {
  return {
    leaseId: "lease-1",
    urlId: "url-1",
    url: "http://example.org/1",
    version: 0,
    hostKey: "http://example.org",
    paceKey: "example.org",
    kind: "page",
    notBefore: NOW,
    startBy: NOW + 10_000,
    attempt: 0,
    epoch: 1,
    ...change,
  };
}

export function request(change: Partial<AdmitRequest> & { lease?: FetchLease } = {}): AdmitRequest {
  return {
    lease: lease(),
    hostKey: "http://example.org",
    token: "token-1",
    viaAllowed: false,
    robots: { verdict: "allow" },
    ...change,
  };
}

export function flight(change: Partial<Flight> = {}): Flight {
  return {
    token: "token-0",
    leaseId: "lease-0",
    urlId: "url-0",
    hostKey: "http://example.org",
    kind: "page",
    version: 0,
    admittedAt: NOW - 100,
    sendBy: NOW + 150,
    expiresAt: NOW + 35_150,
    ...change,
  };
}
