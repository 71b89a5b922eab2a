// Whose turn is it at this host, and when is the next? Asked on every turn with the facts of that moment; grants are hints, admit disposes.
import type { HostState } from "../../schemas/host-state.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { limits } from "../../schemas/limits.ts";
import type { SettledOutcome } from "../../schemas/reasons.ts";
import type { AdmitRequest } from "../politeness/admit.ts";
import { dayBudgetLeft, dayBudgetRefusal } from "../politeness/day-budget.ts";
import { allowedAt, gapMs, withoutExpired } from "../politeness/host-clock.ts";
import type { PacePolicy } from "../politeness/policy.ts";
import { robotsUrl } from "../robots/acquire.ts";
import type { RobotsJudgement } from "../robots/judge.ts";
import { urlIdentity } from "../url/keys.ts";
import { type FrontierState, leaseExpiry, type ReadyUrl, rewound } from "./state.ts";

/** What the turn is told of the world. */
export interface TurnFacts {
  paceKey: string;
  host: HostState;
  policy: PacePolicy;
  /** The robots verdict on a URL of this host, now. */
  judge: (hostKey: string, url: string) => RobotsJudgement;
  /** Whether a policy about the URL forbids it for now. */
  withheld?: (hostKey: string, url: string) => AdmitRequest["withheld"];
  now: number;
  epoch: number;
  /** How far this worker's clock may be from true time, ms (0 where absent): the admit will wait as much longer. */
  skewMs?: number;
  /** A new lease id. */
  draw: () => string;
}

export type NextTurn =
  /** Scan the due index, then plan again. */
  | { kind: "refill" }
  | { kind: "sleep"; until: number }
  /** Nothing can be done here before `until`, an hour or more away: the sweep takes over. */
  | { kind: "clear"; until: number }
  /** Not ours to serve, now or any more: the state goes, and what the stores say of the host stays as it is for who may. */
  | { kind: "abandon" };

export interface Turn {
  state: FrontierState;
  grants: FetchLease[];
  next: NextTurn;
}

const NEVER = Number.MAX_SAFE_INTEGER;
const DAY_MS = 86_400_000;

export function planTurn(before: FrontierState, facts: TurnFacts): Turn {
  const { now } = facts;
  const host = withoutExpired(facts.host, now);
  const state = unblocked(forgetLost(before, now), now);
  const away = turnElsewhere(host, facts);
  if (away !== undefined) return { state, grants: [], next: away };
  if (wantsRefill(state, now)) return { state, grants: [], next: { kind: "refill" } };

  const desk = new Desk(state, host, facts);
  for (const url of state.ready) desk.consider(url);
  const after: FrontierState = {
    ...state,
    ready: desk.kept,
    leases: [...state.leases, ...desk.leases],
    blocked: [...state.blocked, ...desk.blocked],
    placesFree: desk.placesFree,
  };
  if (after.ready.length < state.ready.length && wantsRefill(after, now))
    return { state: after, grants: desk.grants, next: { kind: "refill" } };
  // While the queue is long enough to need no refill, what is due outside it brings no turn.
  const refillAt = wantsMore(after) ? after.nextDueAt : NEVER;
  const ends = [...after.leases.map((lease) => lease.expiresAt), ...after.blocked.map((entry) => entry.until)];
  const until = Math.min(desk.wakeAt, refillAt, ...ends);
  return { state: after, grants: desk.grants, next: asleep(after, until, now) };
}

/** A turn at which nothing may be granted, whatever is due. */
function turnElsewhere(host: HostState, { policy, now, epoch }: TurnFacts): NextTurn | undefined {
  if (host.movedTo !== undefined || policy.paused) return { kind: "abandon" };
  if (host.epoch > epoch) return { kind: "abandon" }; // a newer job owns it; a word of ours would hide the host from its sweep
  if (host.pausedUntil === undefined || host.pausedUntil <= now) return undefined;
  return host.pausedUntil < now + limits.hostIdleMs ? { kind: "sleep", until: host.pausedUntil } : { kind: "abandon" };
}

/** Leases whose report never came are given up; their URLs are still due. */
function forgetLost(state: FrontierState, now: number): FrontierState {
  const leases = state.leases.filter((lease) => lease.expiresAt > now);
  const old = now - state.cursorsResetAt >= limits.cursorResetMs;
  if (leases.length === state.leases.length && !old) return state;
  return rewound({ ...state, leases }, now);
}

/** What was blocked until now is looked for again from the head of the index. */
function unblocked(state: FrontierState, now: number): FrontierState {
  const blocked = state.blocked.filter(({ until }) => until > now);
  return blocked.length === state.blocked.length ? state : rewound({ ...state, blocked }, now);
}

/** Refilled when a quarter is left, so that a better class is never kept waiting behind a long queue of a worse one. */
function wantsRefill(state: FrontierState, now: number): boolean {
  return state.nextDueAt <= now && wantsMore(state);
}

function wantsMore(state: FrontierState): boolean {
  return state.ready.length <= limits.readyUrls / 4;
}

/**
 * A host with blocked host keys is not left: the look that makes sure that nothing is due would read all of their URLs, find nothing to take,
 * and, where they are more than one turn reads, begin again with the next.
 */
function asleep({ leases, blocked }: FrontierState, until: number, now: number): NextTurn {
  if (leases.length === 0 && blocked.length === 0 && until >= now + limits.hostIdleMs)
    return { kind: "clear", until: Math.min(until, now + DAY_MS) };
  return { kind: "sleep", until: Math.min(Math.max(until, now + 1), now + DAY_MS) };
}

/** One turn's work over the ready URLs: places and times are handed out as long as there are any. */
class Desk {
  readonly kept: ReadyUrl[] = [];
  readonly grants: FetchLease[] = [];
  readonly leases: FrontierState["leases"] = [];
  readonly blocked: FrontierState["blocked"] = [];
  /** The earliest time at which one of the kept URLs may get its chance; reports come by themselves. */
  wakeAt = NEVER;
  #places: number;
  #settles: number;
  #pages: number;
  /** When there may be pages again, once there are none. */
  readonly #pagesAt: number;
  #startAt: number;
  readonly #storeHoldUntil: number;
  #closed = false;
  readonly #facts: TurnFacts;
  readonly #gapMs: number;
  readonly #robotsOut: Set<string>;
  /** URLs that others have booked, and until when at most. */
  readonly #booked: Map<string, number>;

  constructor(state: FrontierState, host: HostState, facts: TurnFacts) {
    const { policy, now } = facts;
    const running = state.leases.filter((lease) => !lease.settle);
    const foreign = host.inFlight.filter((flight) => !running.some((lease) => lease.leaseId === flight.leaseId));
    this.#facts = facts;
    this.#gapMs = gapMs(host, policy);
    this.#places = policy.concurrency - running.length - foreign.length;
    this.#settles = limits.settlesOut - (state.leases.length - running.length);
    const today = dayBudgetLeft(host.day, policy.dayBudget, now);
    const pagesOut = running.filter((lease) => lease.kind !== "robots").length;
    this.#pages = Math.min(policy.pagesMax - host.pages, today) - pagesOut;
    this.#pagesAt = dayBudgetRefusal(host.day, policy.dayBudget, now)?.until ?? now + DAY_MS;
    this.#storeHoldUntil = state.storeHoldUntil ?? 0;
    this.#startAt = Math.max(allowedAt(host, policy) + (facts.skewMs ?? 0), state.holdUntil ?? 0, now);
    this.#robotsOut = new Set(
      [...running, ...foreign].filter((entry) => entry.kind === "robots").map((entry) => entry.hostKey),
    );
    this.#booked = new Map(foreign.map((flight) => [flight.urlId, flight.expiresAt]));
    for (const flight of foreign) this.wakeAt = Math.min(this.wakeAt, flight.expiresAt);
  }

  consider(url: ReadyUrl): void {
    if (this.#closed) return this.#keep(url, NEVER);
    const withheld = this.#facts.withheld?.(url.hostKey, url.url);
    if (withheld !== undefined) return this.#settle(url, withheld);
    const judgement = this.#facts.judge(url.hostKey, url.url);
    switch (judgement.verdict) {
      case "disallow":
        return this.#settle(url, "robots");
      case "unreachable":
        if (judgement.reason === "address") return this.#settle(url, "address");
        return this.#block(url.hostKey, judgement.until);
      case "deferred":
        return this.#block(url.hostKey, judgement.until);
      case "missing":
        if (this.#pages <= 0) return this.#keep(url, this.#pagesAt); // rules for pages that nobody may ask for
        if (!this.#robotsOut.has(url.hostKey) && this.#mayStart()) this.#askRobots(url.hostKey);
        return this.#keep(url, this.#robotsOut.has(url.hostKey) ? NEVER : this.#chanceAt());
      case "allow":
        if (this.#pages <= 0) return this.#keep(url, this.#pagesAt);
        if (this.#robotsOut.has(url.hostKey)) return this.#keep(url, NEVER);
        if (this.#booked.has(url.urlId)) return this.#keep(url, this.#booked.get(url.urlId)!);
        if (!this.#mayStart()) {
          this.#closed = true; // no later one has a better chance, and judging them all on every turn would cost
          return this.#keep(url, this.#chanceAt());
        }
        this.#pages--;
        return this.#grant({ ...this.#lease(url), kind: url.kind });
    }
  }

  #mayStart(): boolean {
    return this.#places > 0 && this.#startAt <= this.#facts.now + limits.leaseAheadMs;
  }

  /** Without a place the next report brings the turn; with one, the clock does. */
  #chanceAt(): number {
    return this.#places > 0 ? this.#startAt - limits.leaseAheadMs : NEVER;
  }

  #keep(url: ReadyUrl, until: number): void {
    this.kept.push(url);
    this.wakeAt = Math.min(this.wakeAt, until);
  }

  /** The URL leaves the queue, not the index. */
  #block(hostKey: string, until: number): void {
    if (!this.blocked.some((entry) => entry.hostKey === hostKey)) this.blocked.push({ hostKey, until });
  }

  get placesFree(): number {
    return Math.max(0, this.#places);
  }

  /** Needs neither a place nor the host's clock, but a store that takes its end. */
  #settle(url: ReadyUrl, reason: SettledOutcome): void {
    if (this.#storeHoldUntil > this.#facts.now) return this.#keep(url, this.#storeHoldUntil);
    if (this.#settles <= 0) return this.#keep(url, NEVER);
    this.#settles--;
    this.#hand({ ...this.#lease(url), notBefore: this.#facts.now, kind: url.kind, settle: reason });
  }

  #askRobots(hostKey: string): void {
    const url = robotsUrl(hostKey);
    this.#robotsOut.add(hostKey);
    this.#grant({ ...this.#lease({ url, hostKey, urlId: urlIdentity(url).urlId, version: 0, attempt: 0 }), kind: "robots" });
  }

  #lease(url: Pick<ReadyUrl, "url" | "hostKey" | "urlId" | "version" | "attempt">): Omit<FetchLease, "kind"> {
    const { paceKey, epoch, draw } = this.#facts;
    const { urlId, version, hostKey, attempt } = url;
    const notBefore = this.#startAt;
    return { leaseId: draw(), urlId, url: url.url, version, hostKey, paceKey, notBefore, startBy: 0, attempt, epoch };
  }

  #grant(lease: FetchLease): void {
    this.#places--;
    this.#startAt += this.#gapMs;
    this.#hand(lease);
  }

  #hand(lease: FetchLease): void {
    const startBy = lease.notBefore + limits.leaseStartMs;
    this.grants.push({ ...lease, startBy });
    const { leaseId, urlId, hostKey, kind } = lease;
    const expiresAt = leaseExpiry(startBy, this.#facts.policy.requestMs);
    this.leases.push({ leaseId, urlId, hostKey, kind, settle: lease.settle !== undefined, expiresAt });
  }
}
