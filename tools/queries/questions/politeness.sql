-- Was each host left alone long enough? The smallest gap first.
SELECT paceKey, requests, smallestGapMs, medianGapMs, gapsUnder1s, shareUnder1s, lastRequestAt
FROM politeness
ORDER BY smallestGapMs, paceKey
