-- Which content stands under several URLs? The most repeated first.
SELECT contentHash, urls, hosts, firstUrl, lastUrl
FROM duplicates
ORDER BY urls DESC, contentHash
