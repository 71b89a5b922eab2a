// Which instant does a feed's pubDate name? RFC 822 5 as RSS 2.0 uses it, with years of two digits or four.
import { offsetMs } from "./w3c-date.ts";

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DATE_CHARS = 40; // "Thu, 05 Jan 2017 12:34:50 +0100" has 31
const PIVOT_YEAR = 70; // feeds are younger than 1970
const format =
  /^(?:[a-z]{3,9},? )?(?<day>\d{1,2}) (?<month>[a-z]{3})[a-z]{0,6} (?<year>\d{4}|\d{2}) (?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2}))? (?<zone>[a-z]{1,3}|[+-]\d{4})$/i;
/** RFC 822 5.1; other letters are not trusted. */
const zones = new Map<string, string>([
  ["gmt", "+0000"],
  ["ut", "+0000"],
  ["utc", "+0000"],
  ["z", "+0000"],
  ["est", "-0500"],
  ["edt", "-0400"],
  ["cst", "-0600"],
  ["cdt", "-0500"],
  ["mst", "-0700"],
  ["mdt", "-0600"],
  ["pst", "-0800"],
  ["pdt", "-0700"],
]);

/** Unix ms; undefined where it is no such date, has no zone, or lies before 1970. */
export function parseRssDate(value: string): number | undefined {
  const text = value.length > DATE_CHARS * 4 ? "" : value.trim().replace(/\s+/g, " ");
  const parts = text.length > DATE_CHARS ? undefined : format.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const month = months.indexOf(parts.month!.toLowerCase());
  const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second ?? 0].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const zone = zones.get(parts.zone!.toLowerCase()) ?? parts.zone!;
  if (month < 0 || hour > 23 || minute > 59 || second > 60 || !/^[+-]/.test(zone)) return undefined;
  const midnight = Date.UTC(fullYear(parts.year!), month, day);
  const offset = offsetMs(zone);
  if (offset === undefined || new Date(midnight).getUTCDate() !== day) return undefined;
  const at = midnight + ((hour * 60 + minute) * 60 + Math.min(second, 59)) * 1000 - offset;
  return at >= 0 ? at : undefined;
}

function fullYear(year: string): number {
  const number = Number(year);
  if (year.length === 4) return number;
  return number + (number < PIVOT_YEAR ? 2000 : 1900);
}
