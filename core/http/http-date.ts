// Which instant does an HTTP date name? RFC 9110 5.6.7: the fixed format, and the two obsolete ones that a recipient must accept.

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DATE_CHARS = 40; // the longest form, "Wednesday, 06-Nov-94 08:49:37 GMT", has 33
const YEARS_AHEAD = 50; // 5.6.7: a two-digit year further ahead belongs to the past century
const PIVOT_YEAR = 1970; // without a `now`: no server is older than the web, so 70 to 99 are of the last century

const formats = [
  // Sun, 06 Nov 1994 08:49:37 GMT; a one-digit day is forgiven, as browsers do
  /^[a-z]{3}, (?<day>\d{1,2}) (?<month>[a-z]{3}) (?<year>\d{4}) (?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2}) gmt$/i,
  // Sunday, 06-Nov-94 08:49:37 GMT
  /^[a-z]{6,9}, (?<day>\d{2})-(?<month>[a-z]{3})-(?<year>\d{2}) (?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2}) gmt$/i,
  // Sun Nov  6 08:49:37 1994
  /^[a-z]{3} (?<month>[a-z]{3}) (?<day> \d|\d{2}) (?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2}) (?<year>\d{4})$/i,
];

/**
 * Unix ms, or undefined where the value is no HTTP date. Letter case and a wrong name of the day are forgiven, another zone than GMT is
 * not. `now` (Unix ms) decides the century of a two-digit year; without it 70 to 99 are 19xx.
 */
export function parseHttpDate(value: string, now?: number): number | undefined {
  if (value.length > DATE_CHARS) return undefined;
  for (const format of formats) {
    const parts = format.exec(value)?.groups;
    if (parts !== undefined) return instant(parts, now);
  }
  return undefined;
}

function instant(parts: Record<string, string>, now: number | undefined): number | undefined {
  const month = months.indexOf(parts.month!.toLowerCase());
  const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(Number);
  if (month < 0 || hour! > 23 || minute! > 59 || second! > 60) return undefined;
  const at = (year: number) => fullYearUtc(year, month, day!) + ((hour! * 60 + minute!) * 60 + Math.min(second!, 59)) * 1000;
  const year = Number(parts.year);
  const chosen = parts.year!.length === 4 ? year : withCentury(year, at, now);
  return validDay(chosen, month, day!) ? at(chosen) : undefined;
}

function withCentury(year: number, at: (year: number) => number, now: number | undefined): number {
  if (now === undefined) return year + (year < PIVOT_YEAR % 100 ? 2000 : 1900);
  const century = Math.floor(new Date(now).getUTCFullYear() / 100) * 100;
  const latest = new Date(now).setUTCFullYear(new Date(now).getUTCFullYear() + YEARS_AHEAD);
  const candidates = [century + 100, century, century - 100].map((first) => first + year);
  return candidates.find((candidate) => at(candidate) <= latest) ?? century + year;
}

/** Date.UTC reads the years 0 to 99 as 1900 to 1999. */
function fullYearUtc(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

function validDay(year: number, month: number, day: number): boolean {
  return day >= 1 && new Date(fullYearUtc(year, month, day)).getUTCDate() === day;
}
