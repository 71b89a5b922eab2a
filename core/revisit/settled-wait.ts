// When is a URL judged again for which nobody was asked? Settling takes no time, so that all of a host's came due together for ever, if they were not spread.
import { limits } from "../../schemas/limits.ts";
import { tokenFraction } from "../token-fraction.ts";

const SPREAD_SHARE = 1 / 4; // of the wait: 10^5 URLs of a host that were settled in a moment come back over a quarter of an hour
const PAUSE_SHARE = 1 / 8; // what is paused for long costs little, what is resumed soon goes on soon

/** Between three quarters and all of the wait, ms, by the lease, whose id is random. */
export function spreadWait(waitMs: number, leaseId: string): number {
  return Math.round(waitMs * (1 - tokenFraction(leaseId) * SPREAD_SHARE));
}

/** A share of the time that a pattern has been paused for a URL, within an hour and a day. */
export function heldWait(heldMs: number): number {
  return Math.min(limits.heldRevisitMsMax, Math.max(limits.heldRevisitMs, heldMs * PAUSE_SHARE));
}
