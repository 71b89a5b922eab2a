// When is a URL judged again for which nobody was asked? Settling takes no time, so that all of a host's came due together for ever, if they were not spread.
import { limits } from "../../schemas/limits.ts";

/** Between three quarters and all of the wait, ms, by the lease, whose id is random. */
export function spreadWait(waitMs: number, leaseId: string): number {
  return Math.round(waitMs * (1 - shareOf(leaseId) / 4));
}

/** An eighth of the time that a pattern has been paused for a URL: what is paused for long costs little, what is resumed soon goes on soon. */
export function heldWait(heldMs: number): number {
  return Math.min(limits.heldRevisitMsMax, Math.max(limits.heldRevisitMs, heldMs / 8));
}

/** 0 to 1, the last one excluded: FNV-1a over the characters. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
