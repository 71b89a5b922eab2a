-- When did each URL last answer? robots.txt is not among them.
SELECT
  event.urlId,
  event.hostKey,
  MIN(event.url) AS url,
  MAX(event.at) AS lastVisitMs,
  TIMESTAMP_MILLIS(MAX(event.at)) AS lastVisitAt
FROM ${dataset}.fetch_events AS event
WHERE event.status IS NOT NULL AND event.kind IN ('page', 'sitemap')
GROUP BY 1, 2
