-- Was each host left alone long enough between requests? One row a pace key with two requests or more.
SELECT
  paceKey,
  COUNT(gapMs) + 1 AS requests,
  MIN(gapMs) AS smallestGapMs,
  APPROX_QUANTILES(gapMs, 2)[SAFE_OFFSET(1)] AS medianGapMs,
  COUNTIF(gapMs < 1000) AS gapsUnder1s,
  ROUND(SAFE_DIVIDE(COUNTIF(gapMs < 1000), COUNT(gapMs)), 4) AS shareUnder1s,
  MIN(sentAt) AS firstRequestAt,
  MAX(sentAt) AS lastRequestAt
FROM ${dataset}.request_gaps
GROUP BY 1
HAVING COUNT(gapMs) > 0
