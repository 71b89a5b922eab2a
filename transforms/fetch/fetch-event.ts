// What analysts are told of an attempt: one fetch event, and the counters that follow from it.
import type { FetchEvent } from "../../schemas/events.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import type { CrawlServices } from "../services.ts";

export type EventDetails = Pick<FetchEvent, "at" | "outcome"> & Partial<Omit<FetchEvent, keyof FetchLease>>;

export async function outcomeEvent(services: CrawlServices, lease: FetchLease, details: EventDetails): Promise<void> {
  const { events, metrics } = services;
  const { urlId, url, hostKey, paceKey, kind, leaseId, version } = lease;
  metrics.count("gleaner_fetches_total", 1, { kind, outcome: details.outcome });
  if (details.reason !== undefined) metrics.count("gleaner_fetch_reasons_total", 1, { reason: details.reason });
  if (details.wireBytes !== undefined) metrics.count("gleaner_wire_bytes_total", details.wireBytes);
  if (details.latencyMs !== undefined) metrics.observe("gleaner_answer_latency_ms", details.latencyMs);
  await events.publish("fetch", [{ urlId, url, hostKey, paceKey, kind, leaseId, version, ...details }]);
}
