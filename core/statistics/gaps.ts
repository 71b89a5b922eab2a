// How long was a host left alone between an answer and the next request? The smallest such time among its requests.
import type { FetchEvent } from "../../schemas/events.ts";

export interface RequestTimes {
  /** Unix ms. */
  sentAt: number;
  /** The first byte of the answer; the sending, where none came. */
  answeredAt: number;
}

/** Failures before which bytes went out. */
const ASKED: readonly string[] = ["timeout", "reset", "protocol", "header-bytes"];

/** Undefined where nothing was sent. As tools/queries/base/request-gaps.sql has it. */
export function timesOf({ at, status, outcome, reason, latencyMs = 0 }: FetchEvent): RequestTimes | undefined {
  const isSent = status !== undefined || (outcome === "failed" && reason !== undefined && ASKED.includes(reason));
  return isSent ? { sentAt: at, answeredAt: at + latencyMs } : undefined;
}

/** ms; 0 where requests overlap, which a host may have agreed to. Undefined of fewer than two. */
export function smallestGap(requests: readonly RequestTimes[]): number | undefined {
  const inOrder = requests.toSorted((one, other) => one.sentAt - other.sentAt || one.answeredAt - other.answeredAt);
  let smallest: number | undefined;
  for (const [at, { sentAt }] of inOrder.entries()) {
    if (at === 0) continue;
    const gap = Math.max(0, sentAt - inOrder[at - 1]!.answeredAt);
    if (smallest === undefined || gap < smallest) smallest = gap;
  }
  return smallest;
}
