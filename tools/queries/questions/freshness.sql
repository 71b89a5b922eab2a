-- How old is what was fetched? The oldest first.
SELECT hostKey, urls, youngestHours, medianHours, oldestHours, withinDay, withinWeek, within30Days
FROM freshness
ORDER BY oldestHours DESC, hostKey
