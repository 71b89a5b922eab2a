// Do dates and waits read as the standards say, in whatever time zone the process is? RFC 9110 5.6.7 and 10.2.3, W3C's ISO 8601, RFC 822.
import assert from "node:assert/strict";
import { parseHttpDate } from "../../core/http/http-date.ts";
import { retryAfterMs } from "../../core/http/retry-after.ts";
import { parseRssDate } from "../../core/sitemap/rss-date.ts";
import { parseW3cDate } from "../../core/sitemap/w3c-date.ts";
import { limits } from "../../schemas/limits.ts";
import { conformance, type SharedData } from "./lib.ts";

/** By their offset in January 2027, in minutes as Date gives it: behind and ahead of UTC, not by whole hours, and across the date line. */
const zones: Record<string, number> = {
  UTC: 0,
  "America/New_York": 300,
  "Asia/Kathmandu": -345,
  "Pacific/Kiritimati": -840,
};

conformance({
  name: "dates, Retry-After, lastmod",
  files: ["http-date.json", "retry-after.json", "lastmod-dates.json"],
  cases: 107 * Object.keys(zones).length,
  judge(data, check) {
    const before = process.env.TZ;
    try {
      for (const [zone, offset] of Object.entries(zones)) {
        setZone(zone);
        assert.equal(new Date(2027, 0, 1).getTimezoneOffset(), offset, `the process is not in ${zone}`);
        for (const { id, got, wanted } of answers(data)) check(`${zone}: ${id}`, got, wanted);
      }
    } finally {
      setZone(before);
    }
  },
});

function setZone(zone: string | undefined): void {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
}

interface Answer {
  id: string;
  got: () => unknown;
  wanted: unknown;
}

function answers(data: SharedData): Answer[] {
  const dates = data.json<{ value: string; expected: string | null }[]>("http-date.json");
  const waits = data.json<{ value: string; now: string; expectedSeconds: number | null | "overflow" }[]>("retry-after.json");
  const lastmods = data.json<{ format: "rss" | "w3c"; input: string; expected: string | null }[]>("lastmod-dates.json");
  const readers = { rss: parseRssDate, w3c: parseW3cDate };
  return [
    ...dates.map(({ value, expected }) => ({ id: value, got: () => parseHttpDate(value), wanted: instantOf(expected) })),
    ...waits.map(({ value, now, expectedSeconds }) => ({
      id: `Retry-After: ${value}`,
      got: () => retryAfterMs(value, Date.parse(now)),
      wanted: waitOf(expectedSeconds),
    })),
    ...lastmods.map(({ format, input, expected }) => ({
      id: `${format}: ${input}`,
      got: () => readers[format](input),
      wanted: instantOf(expected),
    })),
  ];
}

/** A leap second is the one before it, as POSIX counts. */
function instantOf(expected: string | null): number | undefined {
  if (expected === "leap-second") return Date.UTC(2016, 11, 31, 23, 59, 59);
  return expected === null ? undefined : Date.parse(expected);
}

/** A wait of zero, or until a time gone by, is none: the caller's own back-off stands. A long one is kept as the limit. */
function waitOf(seconds: number | null | "overflow"): number | undefined {
  if (seconds === "overflow") return limits.retryAfterMsMax;
  return seconds === null || seconds === 0 ? undefined : Math.min(seconds * 1000, limits.retryAfterMsMax);
}
