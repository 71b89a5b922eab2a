// What does a host's frontier hold between its turns? A cache of the stores: losing it costs one scan.
import { bool, list, oneOf, optional, struct, type TypeOf, text, uint } from "../../schemas/codec.ts";
import { leaseKinds } from "../../schemas/host-state.ts";
import { limits } from "../../schemas/limits.ts";
import type { HostMessage, Report } from "../../schemas/messages.ts";
import { urlKinds } from "../../schemas/url-state.ts";

const readyUrl = struct({
  urlId: text,
  url: text,
  hostKey: text,
  kind: oneOf(urlKinds),
  version: uint,
  priority: uint,
  dueAt: uint,
  attempt: uint,
});
export type ReadyUrl = TypeOf<typeof readyUrl>;

const leaseOut = struct({
  leaseId: text,
  urlId: text,
  hostKey: text,
  kind: oneOf(leaseKinds),
  /** No request is expected of it, so it takes no place of the host's. */
  settle: bool,
  /** When it is given up if no report comes. */
  expiresAt: uint,
});

export const frontierState = struct({
  /** Most urgent first; at most limits.readyUrls. */
  ready: list(readyUrl),
  /** The last due key read, a class each; empty: the head. */
  cursors: list(text),
  /** When the cursors last stood at the head. */
  cursorsResetAt: uint,
  leases: list(leaseOut),
  /** When something outside `ready` is due, as far as the last scan and the wakes since tell; 0: unknown, scan. */
  nextDueAt: uint,
  /** The turn the timer is set for; 0: none. */
  turnAt: uint,
  /** Host keys whose robots.txt lets nothing be judged until then: their URLs stay in the index, so that they crowd out no others. */
  blocked: list(struct({ hostKey: text, until: uint })),
  /** Places at the host that the last turn could not fill. */
  placesFree: optional(uint),
  /** No grant before this, after a refusal that has nothing to do with the host. */
  holdUntil: optional(uint),
  /** Nothing at all before this: the store could not take the end of a lease, and would not take that of another either. */
  storeHoldUntil: optional(uint),
});
export type FrontierState = TypeOf<typeof frontierState>;

const HEAD = ["", "", "", ""];

/** A frontier that knows nothing yet. */
export function newFrontier(now: number): FrontierState {
  return { ready: [], cursors: HEAD, cursorsResetAt: now, leases: [], nextDueAt: 0, turnAt: 0, blocked: [] };
}

export function atHead(state: FrontierState): boolean {
  return state.cursors.every((cursor) => cursor === "");
}

/** The next scan begins at the head of every class. */
export function rewound(state: FrontierState, now: number): FrontierState {
  return { ...state, cursors: HEAD, cursorsResetAt: now, nextDueAt: 0 };
}

/** A turn no further off than this is not brought forward by a wake: one turn serves many wakes. */
const WAKE_PATIENCE_MS = 2_000;

/** Reasons that the host's record may not show at the next turn: the frontier holds for a while instead of granting the same again. */
const HOLDS_MS: Readonly<Record<string, number>> = {
  "page-limit": 60_000,
  shutdown: 60_000,
  store: 60_000, // a full disk or a store that is away: asking hosts meanwhile would waste their answers
  contention: 100,
  duplicate: 1_000,
  epoch: 60_000,
  concurrency: 100,
  unsent: 100,
  late: 100,
};

export interface Heard {
  state: FrontierState;
  /** Whether the host's turn should be taken now. */
  turn: boolean;
  /** Where not: when it should be, if that is known by now (Unix ms). */
  turnAt?: number;
}

/** What is known after a message. */
export function hear(state: FrontierState, message: HostMessage, now: number): Heard {
  if (message.kind === "wake") {
    const nextDueAt = Math.min(state.nextDueAt, message.at);
    // A known turn that lies ahead will see it, and so will the one that a report brings; only a turn far off is brought forward.
    const mayUse = state.leases.length === 0 || (state.placesFree ?? 0) > 0;
    const farOff = mayUse && state.turnAt - Math.max(now, message.at) > WAKE_PATIENCE_MS;
    return { state: { ...state, nextDueAt }, turn: state.turnAt <= now || farOff };
  }
  const leases = state.leases.filter((lease) => lease.leaseId !== message.leaseId);
  const nextDueAt = Math.min(state.nextDueAt, message.nextDueAt ?? state.nextDueAt);
  // Doubled, or given up already: the only news is when the URL is due again.
  if (leases.length === state.leases.length) return { state: { ...state, nextDueAt }, turn: message.nextDueAt !== undefined };
  const after = { ...state, leases, nextDueAt };
  const turnAt = nextChance(after, message, now);
  if (turnAt !== undefined) return { state: after, turn: false, turnAt };
  if (message.fetched || message.result in SETTLED) return { state: after, turn: true };
  const holdMs = HOLDS_MS[message.result];
  const hold = holdMs === undefined ? {} : { holdUntil: now + holdMs };
  const storeHold = message.result === "store" ? { storeHoldUntil: now + (holdMs ?? 0) } : {};
  return { state: { ...rewound(after, now), ...hold, ...storeHold }, turn: true };
}

/**
 * A turn before the host's clock allows a start could only look: with nothing out and something ready, it waits until then. Whoever sent
 * the request has just written that clock, so the frontier need not read it.
 */
function nextChance({ leases, ready }: FrontierState, { fetched, nextStartAt }: Report, now: number): number | undefined {
  if (!fetched || nextStartAt === undefined || leases.length > 0 || ready.length === 0) return undefined;
  const at = nextStartAt - limits.leaseAheadMs;
  return at > now && at < now + limits.hostIdleMs ? at : undefined;
}

/** Results that completed the URL without a request. */
const SETTLED: Readonly<Record<string, true>> = {
  robots: true,
  address: true,
  excluded: true,
  held: true,
  poisoned: true,
  stale: true,
  failed: true,
};

/** Unix ms after which a lease without a report is given up: it may start until startBy, and lives no longer than its entry. */
export function leaseExpiry(startBy: number, requestMs: number): number {
  return startBy + limits.sendWithinMs + requestMs + limits.expireGraceMs;
}
