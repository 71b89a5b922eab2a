// The request of an admitted lease, and what every answer has in common: headers sent, Retry-After, release.

import { headerOf } from "../../core/http/outcome.ts";
import { addressVerdict } from "../../core/http/public-address.ts";
import { retryAfterMs } from "../../core/http/retry-after.ts";
import type { AdmitRequest } from "../../core/politeness/admit.ts";
import type { RequestEnd } from "../../core/politeness/release.ts";
import type { Answer, Connected, HttpFailure } from "../../ports/http.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import type { CrawlServices } from "../services.ts";
import {
  admitDurably,
  type Booked,
  type Booking,
  type HostDesk,
  type HostSight,
  hostDesk,
  noteConnectFailure,
  releaseDurably,
} from "./host-record.ts";

export type PreparedRequest = Omit<AdmitRequest, "robots" | "viaAllowed"> & { url: string };

export type Exchange =
  /** The headers are in; the entry is still booked, and release() is owed. */
  | { kind: "answer"; answer: Answer; address: string; booked: Booked; desk: HostDesk }
  /** Sent or not even connected; the host record is written. */
  | { kind: "failure"; failure: HttpFailure; hostFreeAt: number }
  | Exclude<Booking, { kind: "admitted" }>;

export interface ExchangeJob {
  paceKey: string;
  request: PreparedRequest;
  headers: Record<string, string>;
  /** What was just read of the host, if anything. */
  sight?: HostSight | undefined;
}

/** Connects, admits, sends. Nothing is owed after any but `answer`. */
export async function exchange(
  services: CrawlServices,
  config: CrawlConfig,
  { paceKey, request, headers, sight }: ExchangeJob,
): Promise<Exchange> {
  const { requestMs } = config;
  const connection = await services.http.connect(request.url, {
    totalMs: requestMs,
    headersMs: Math.min(limits.headersMs, requestMs),
    headerBytes: limits.headerBytes,
  });
  const ruling = services.live.now(); // what an operator has ordered while the connection was made counts
  if (!connection.ok) return connectFailure(services, hostDesk(ruling, paceKey, false), connection);
  // The allowance follows from where this very connection leads, not from where an earlier one led.
  const viaAllowed = !addressVerdict(connection.address, []).allowed;
  const desk = hostDesk(ruling, paceKey, viaAllowed);
  const admission = await admitSafely(connection, () => admitDurably(services, desk, { ...request, viaAllowed }, sight));
  if (admission.kind !== "admitted") {
    connection.release();
    return admission;
  }
  const { token, sendBy } = admission.flight;
  const booked = { token, row: admission.row };
  const answer = await connection.send({ headers: { "user-agent": config.userAgent, ...headers }, sendBy });
  if (answer.ok) return { kind: "answer", answer, address: connection.address, booked, desk };
  if (answer.reason === "unsent") {
    await releaseDurably(services, desk, booked, { kind: "unsent" });
    return { kind: "refused", reason: "unsent" };
  }
  const sentAt = answer.sentAt ?? sendBy;
  const host = await releaseDurably(services, desk, booked, {
    kind: "failed",
    reason: answer.reason,
    sentAt,
    endedAt: answer.endedAt,
  });
  return { kind: "failure", failure: { ...answer, sentAt }, hostFreeAt: host.backoffUntil };
}

/** A refused address was never touched; every other failure was felt by the host, or by the name servers of it. */
async function connectFailure(services: CrawlServices, desk: HostDesk, failure: HttpFailure): Promise<Exchange> {
  if (failure.reason === "address") return { kind: "failure", failure, hostFreeAt: 0 };
  const host = await noteConnectFailure(services, desk, failure.reason);
  return { kind: "failure", failure, hostFreeAt: host.backoffUntil };
}

/** Whatever the admission throws, the connection is given back. */
async function admitSafely(connection: Connected, admission: () => Promise<Booking>): Promise<Booking> {
  try {
    return await admission();
  } catch (error) {
    connection.release();
    throw error;
  }
}

/** The end of an exchange as the host record takes it. */
export function answeredEnd(answer: Answer, endedAt: number, bodyBytes: number): RequestEnd {
  const { status, sentAt, answeredAt } = answer;
  const wait = retryAfterMs(headerOf(answer.headers, "retry-after"), answeredAt);
  return {
    kind: "answered",
    status,
    sentAt,
    answeredAt,
    endedAt,
    bodyBytes,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}
