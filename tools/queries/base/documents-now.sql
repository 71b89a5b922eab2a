-- Which documents does an index have now? One row a URL, its newest version; none for a URL whose newest event is a delete.
-- An event may come twice: of two with the same version the one that tells where the page is stored is taken, then the later one.
SELECT
  newest.urlId,
  newest.docVersion,
  newest.url,
  SPLIT(newest.url, '/')[SAFE_OFFSET(2)] AS host,
  TIMESTAMP_MILLIS(newest.at) AS changedAt,
  newest.contentHash,
  newest.segment,
  newest.offset AS segmentOffset,
  newest.length AS segmentLength
FROM (
  SELECT *
  FROM ${dataset}.index_events AS event
  WHERE TRUE
  QUALIFY ROW_NUMBER() OVER (
    PARTITION BY event.urlId
    ORDER BY event.docVersion DESC, event.segment IS NULL, event.at DESC
  ) = 1
) AS newest
WHERE newest.op = 'upsert'
