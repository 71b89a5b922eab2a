-- Was a host asked again too soon, today or yesterday? Fails where one was, so that the failed run raises the alert; else answers 0.
-- Gaps as in tools/queries/base/request-gaps.sql; below zero a host agreed to several requests at once.
SELECT
  IF(
    COUNT(*) > 0,
    ERROR(CONCAT(CAST(COUNT(*) AS STRING), ' gaps below ${delay_ms} ms, one before ', ANY_VALUE(gap.url))),
    0
  ) AS violations
FROM (
  SELECT
    request.paceKey,
    request.url,
    request.sentMs - LAG(request.answeredMs) OVER (
      PARTITION BY request.paceKey
      ORDER BY request.sentMs, request.answeredMs, request.url
    ) AS gapMs
  FROM (
    SELECT
      event.paceKey,
      event.url,
      event.at AS sentMs,
      MIN(event.at + COALESCE(event.latencyMs, 0)) AS answeredMs
    FROM ${dataset}.fetch_events AS event
    WHERE (event._PARTITIONDATE >= DATE_SUB(CURRENT_DATE(), INTERVAL 1 DAY) OR event._PARTITIONDATE IS NULL)
      AND (
        event.status IS NOT NULL
        OR (event.outcome = 'failed' AND event.reason IN ('timeout', 'reset', 'protocol', 'header-bytes'))
      )
    GROUP BY event.paceKey, event.url, event.leaseId, event.at
  ) AS request
) AS gap
WHERE gap.gapMs >= 0 AND gap.gapMs < ${delay_ms}
