-- What did each host give, in what state is it, when was it last asked? Over all days that are kept; host_days has them one by one.
SELECT
  hostKey,
  SUM(attempts) AS attempts,
  SUM(pages) AS pages,
  SUM(status2xx) AS status2xx,
  SUM(status3xx) AS status3xx,
  SUM(status4xx) AS status4xx,
  SUM(status5xx) AS status5xx,
  SUM(failed) AS failed,
  SUM(notAsked) AS notAsked,
  SUM(wireBytes) AS wireBytes,
  SUM(bodyBytes) AS bodyBytes,
  ROUND(SAFE_DIVIDE(SUM(latencyMsSum), SUM(answers)), 1) AS meanLatencyMs,
  MAX(lastFetchAt) AS lastFetchAt
FROM ${dataset}.host_days
GROUP BY 1
