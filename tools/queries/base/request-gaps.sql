-- How long was each pace key left alone before each request: from the first byte of the answer before (the sending, where none came)?
-- An attempt told twice counts once, whatever days its copies came on. Where a host agreed to several requests at once a gap may be below zero.
SELECT
  request.day,
  request.paceKey,
  request.hostKey,
  request.url,
  TIMESTAMP_MILLIS(request.sentMs) AS sentAt,
  request.sentMs - LAG(request.answeredMs) OVER (
    PARTITION BY request.paceKey
    ORDER BY request.sentMs, request.answeredMs, request.url
  ) AS gapMs
FROM (
  SELECT
    MIN(event._PARTITIONDATE) AS day,
    event.paceKey,
    event.hostKey,
    event.url,
    event.at AS sentMs,
    MIN(event.at + COALESCE(event.latencyMs, 0)) AS answeredMs
  FROM ${dataset}.fetch_events AS event
  WHERE event.status IS NOT NULL
    OR (event.outcome = 'failed' AND event.reason IN ('timeout', 'reset', 'protocol', 'header-bytes'))
  GROUP BY event.paceKey, event.hostKey, event.url, event.leaseId, event.at
) AS request
