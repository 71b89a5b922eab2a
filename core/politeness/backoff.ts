// How long does a host that failed or asked for rest stay alone? Doubling, spread by jitter; Retry-After wins.
import type { HostState } from "../../schemas/host-state.ts";
import { limits } from "../../schemas/limits.ts";

/** What a back-off adds on top at most, as a share of itself, so that hosts which failed together do not return together. */
const JITTER_SHARE = 0.25;

export interface Trouble {
  reason: string;
  /** Unix ms when it was known. */
  at: number;
  /** What the server asked for, ms from `at`; a longer wait than ours is kept, a shorter one too: it said so. */
  retryAfterMs?: number;
  /** 0 to 1. */
  spread: number;
}

type BackoffFields = Pick<HostState, "backoffUntil" | "backoffLevel" | "backoffReason">;

/** The back-off fields after one more trouble. An earlier, longer back-off stands. */
export function backedOff(host: HostState, trouble: Trouble): BackoffFields {
  const ours = Math.min(limits.backoffMsMax, limits.backoffMs * 2 ** host.backoffLevel);
  const waitMs = trouble.retryAfterMs ?? Math.round(ours * (1 + JITTER_SHARE * trouble.spread));
  return {
    backoffUntil: Math.max(host.backoffUntil, trouble.at + waitMs),
    backoffLevel: Math.min(host.backoffLevel + 1, LEVEL_MAX),
    backoffReason: trouble.reason,
  };
}

/** The level from which doubling exceeds backoffMsMax. */
const LEVEL_MAX = Math.ceil(Math.log2(limits.backoffMsMax / limits.backoffMs));

/** After an answer without trouble the next one starts from the beginning; a time already promised stands. */
export function recovered(host: HostState): BackoffFields {
  return host.backoffReason === undefined
    ? { backoffUntil: host.backoffUntil, backoffLevel: 0 }
    : { backoffUntil: host.backoffUntil, backoffLevel: 0, backoffReason: host.backoffReason };
}
