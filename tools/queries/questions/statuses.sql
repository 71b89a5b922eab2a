-- Which answers came on which day? The newest day first.
SELECT day, outcome, status, reason, attempts, hosts, wireBytes
FROM statuses_by_day
ORDER BY day DESC, attempts DESC, outcome, status, reason
