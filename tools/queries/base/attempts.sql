-- What came of each attempt at a URL? One row an attempt; day is the partition, so a condition on it decides what is read and paid for.
-- at and offset are reserved words (of BigQuery and DuckDB), which is why they are named with their table here.
SELECT
  event._PARTITIONDATE AS day,
  TIMESTAMP_MILLIS(event.at) AS attemptedAt,
  event.url,
  event.urlId,
  event.hostKey,
  event.paceKey,
  event.kind,
  event.leaseId,
  event.version,
  event.outcome,
  event.status,
  event.reason,
  event.address,
  event.contentType,
  event.wireBytes,
  event.bodyBytes,
  event.latencyMs,
  event.durationMs,
  event.contentHash,
  event.segment,
  event.offset AS segmentOffset,
  event.redirectTo,
  event.links
FROM ${dataset}.fetch_events AS event
