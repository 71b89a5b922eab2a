-- How did each host answer on each day? Sums only, so that days add up; day is the partition.
SELECT
  event._PARTITIONDATE AS day,
  event.hostKey,
  COUNT(*) AS attempts,
  COUNTIF(event.kind = 'page' AND event.outcome IN ('fetched', 'unchanged')) AS pages,
  COUNTIF(event.status BETWEEN 200 AND 299) AS status2xx,
  COUNTIF(event.status BETWEEN 300 AND 399) AS status3xx,
  COUNTIF(event.status BETWEEN 400 AND 499) AS status4xx,
  COUNTIF(event.status >= 500) AS status5xx,
  COUNTIF(event.outcome = 'failed') AS failed,
  COUNTIF(event.outcome IN ('robots', 'address', 'excluded', 'held', 'poisoned')) AS notAsked,
  SUM(COALESCE(event.wireBytes, 0)) AS wireBytes,
  SUM(COALESCE(event.bodyBytes, 0)) AS bodyBytes,
  COUNT(event.latencyMs) AS answers,
  SUM(COALESCE(event.latencyMs, 0)) AS latencyMsSum,
  MAX(CASE WHEN event.status IS NOT NULL THEN TIMESTAMP_MILLIS(event.at) END) AS lastFetchAt
FROM ${dataset}.fetch_events AS event
GROUP BY 1, 2
