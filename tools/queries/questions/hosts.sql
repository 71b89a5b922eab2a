-- What did each host give? The largest first.
SELECT hostKey, pages, status2xx, status3xx, status4xx, status5xx, failed, notAsked, wireBytes, meanLatencyMs, lastFetchAt
FROM hosts
ORDER BY pages DESC, hostKey
