// What analysts are told of an attempt: one fetch event, and the counters that follow from it.
import type { HttpFailure } from "../../ports/http.ts";
import type { FetchEvent } from "../../schemas/events.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import type { FailureReason } from "../../schemas/reasons.ts";
import type { CrawlServices } from "../services.ts";

export type EventDetails = Pick<FetchEvent, "at" | "outcome"> &
  Partial<Omit<FetchEvent, keyof FetchLease>> & {
    /** The reason more exactly: events tell it in the reason's place; records and counters keep to the closed lists. */
    fault?: string;
  };

export async function outcomeEvent(
  services: CrawlServices,
  lease: FetchLease,
  { fault, ...details }: EventDetails,
): Promise<void> {
  const { events, metrics } = services;
  const { urlId, url, hostKey, paceKey, kind, leaseId, version } = lease;
  metrics.count("gleaner_fetches_total", 1, { kind, outcome: details.outcome });
  if (details.reason !== undefined) metrics.count("gleaner_fetch_reasons_total", 1, { reason: details.reason });
  if (details.wireBytes !== undefined) metrics.count("gleaner_wire_bytes_total", details.wireBytes);
  if (details.latencyMs !== undefined) metrics.observe("gleaner_answer_latency_ms", details.latencyMs);
  await events.publish("fetch", [
    { urlId, url, hostKey, paceKey, kind, leaseId, version, ...details, ...(fault === undefined ? {} : { reason: fault }) },
  ]);
}

/** What an event tells of a failure: that it was `tls`, and in which way the server's TLS is broken. */
export function failureDetails({ reason, detail }: HttpFailure): Pick<EventDetails, "fault"> & { reason: FailureReason } {
  const fault = reason === "tls" ? /^tls-[a-z0-9-]{1,40}(?=:)/.exec(detail)?.[0] : undefined;
  return { reason, ...(fault === undefined ? {} : { fault }) };
}
