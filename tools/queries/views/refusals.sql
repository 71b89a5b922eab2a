-- What was refused, for which reason, how often? Before a lease (source: where the URL was seen) and with one (source: fetch).
SELECT
  hostKey,
  reason,
  source,
  SUM(times) AS refused,
  MIN(example) AS example
FROM (
  SELECT
    event.hostKey,
    event.reason,
    event.source,
    event.count AS times,
    event.samples[SAFE_OFFSET(0)] AS example
  FROM ${dataset}.skip_events AS event
  UNION ALL
  SELECT
    event.hostKey,
    COALESCE(event.reason, event.outcome) AS reason,
    'fetch' AS source,
    1 AS times,
    event.url AS example
  FROM ${dataset}.fetch_events AS event
  WHERE event.outcome IN ('robots', 'address', 'excluded', 'held', 'poisoned', 'refused-body')
) AS refusal
GROUP BY 1, 2, 3
