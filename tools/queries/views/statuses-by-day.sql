-- Which answers came on which day, and how many?
SELECT
  day,
  outcome,
  status,
  reason,
  COUNT(*) AS attempts,
  COUNT(DISTINCT hostKey) AS hosts,
  SUM(COALESCE(wireBytes, 0)) AS wireBytes
FROM ${dataset}.attempts
GROUP BY 1, 2, 3, 4
