-- Which content is in the index under several URLs? The same bytes; near-duplicates are the daily pipeline's.
SELECT
  contentHash,
  COUNT(*) AS urls,
  COUNT(DISTINCT host) AS hosts,
  MIN(url) AS firstUrl,
  MAX(url) AS lastUrl
FROM ${dataset}.documents_now
WHERE contentHash IS NOT NULL
GROUP BY 1
HAVING COUNT(*) > 1
