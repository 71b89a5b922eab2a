-- What was refused, and why? The most frequent first.
SELECT reason, hostKey, source, refused, example
FROM refusals
ORDER BY refused DESC, reason, hostKey, source
