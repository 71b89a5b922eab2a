-- How long ago were the URLs of each host visited? Ages in hours.
SELECT
  hostKey,
  COUNT(*) AS urls,
  ROUND(MIN(ageHours), 1) AS youngestHours,
  ROUND(APPROX_QUANTILES(ageHours, 2)[SAFE_OFFSET(1)], 1) AS medianHours,
  ROUND(MAX(ageHours), 1) AS oldestHours,
  COUNTIF(ageHours < 24) AS withinDay,
  COUNTIF(ageHours < 168) AS withinWeek,
  COUNTIF(ageHours < 720) AS within30Days
FROM (
  SELECT
    hostKey,
    (UNIX_MILLIS(CURRENT_TIMESTAMP()) - lastVisitMs) / 3600000 AS ageHours
  FROM ${dataset}.last_visits
) AS visit
GROUP BY 1
