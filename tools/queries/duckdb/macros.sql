-- Which functions of BigQuery do our queries and analysts use that DuckDB does not have, or has under another name?
CREATE MACRO TIMESTAMP_MILLIS(ms) AS epoch_ms(CAST(ms AS BIGINT));
CREATE MACRO UNIX_MILLIS(instant) AS epoch_ms(instant);
CREATE MACRO CURRENT_TIMESTAMP() AS get_current_timestamp();
CREATE MACRO CURRENT_DATE() AS CAST(get_current_timestamp() AS DATE);
CREATE MACRO TIMESTAMP_SUB(instant, span) AS instant - span;
CREATE MACRO TIMESTAMP_ADD(instant, span) AS instant + span;
CREATE MACRO DATE_SUB(day, span) AS CAST(day - span AS DATE);
CREATE MACRO DATE_ADD(day, span) AS CAST(day + span AS DATE);
CREATE MACRO SAFE_DIVIDE(amount, divisor) AS CASE WHEN divisor = 0 THEN NULL ELSE amount / divisor END;
-- Lists begin at 1 in DuckDB, arrays at 0 in BigQuery: list[SAFE_OFFSET(0)] is the first of both.
CREATE MACRO SAFE_OFFSET(place) AS place + 1;
-- Exact here, approximate there.
CREATE MACRO APPROX_QUANTILES(amount, parts) AS quantile_disc(amount, list_transform(range(parts + 1), lambda part: part / parts));
CREATE MACRO REGEXP_CONTAINS(subject, pattern) AS regexp_matches(subject, pattern);
