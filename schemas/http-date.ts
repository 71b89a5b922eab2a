// Which second does a date of HTTP's fixed format name, and how is it written? RFC 9110 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT", exactly.

const DAYS = ["Sun, ", "Mon, ", "Tue, ", "Wed, ", "Thu, ", "Fri, ", "Sat, "];
const MONTHS = [" Jan ", " Feb ", " Mar ", " Apr ", " May ", " Jun ", " Jul ", " Aug ", " Sep ", " Oct ", " Nov ", " Dec "];
const PAIRS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0"));
const DATE_CHARS = 29;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAY_SECONDS = 86_400;
const EPOCH_DAY = 4; // 1 January 1970 was a Thursday
const EPOCH_YEAR = 1970;

/** Unix seconds where `date` is what writtenDate() makes of them; undefined for every other text, other forms of a date included. */
export function exactSeconds(date: string): number | undefined {
  if (date.length !== DATE_CHARS || !date.endsWith(" GMT") || date[19] !== ":" || date[22] !== ":") return undefined;
  const month = MONTH_OF.get(lettersOfMonth(date, 9)) ?? -1;
  const year = pair(date, 12) * 100 + pair(date, 14);
  const day = pair(date, 5);
  const hour = pair(date, 17);
  const minute = pair(date, 20);
  const second = pair(date, 23);
  if (month < 0 || !date.startsWith(MONTHS[month]!, 7) || !(year >= EPOCH_YEAR && day >= 1 && day <= daysIn(month, year)))
    return undefined;
  if (!(hour < 24 && minute < 60 && second < 60) || date[16] !== " ") return undefined;
  const days = Date.UTC(year, month, day) / (1000 * DAY_SECONDS);
  if (!date.startsWith(DAYS[(days + EPOCH_DAY) % 7]!)) return undefined;
  return days * DAY_SECONDS + hour * 3600 + minute * 60 + second;
}

/** The second and third letters, in which all months differ. */
function lettersOfMonth(text: string, at: number): number {
  return text.charCodeAt(at) * 2 ** 16 + text.charCodeAt(at + 1);
}

const MONTH_OF = new Map(MONTHS.map((name, month) => [lettersOfMonth(name, 2), month]));

function daysIn(month: number, year: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 1 && leap ? 29 : MONTH_DAYS[month]!;
}

/** `seconds`: Unix time, whole, before the year 10000. */
export function writtenDate(seconds: number): string {
  const date = new Date(seconds * 1000);
  const second = seconds % DAY_SECONDS;
  const year = date.getUTCFullYear();
  const day = `${DAYS[date.getUTCDay()]}${PAIRS[date.getUTCDate()]}${MONTHS[date.getUTCMonth()]}`;
  const time = `${PAIRS[Math.floor(second / 3600)]}:${PAIRS[Math.floor(second / 60) % 60]}:${PAIRS[second % 60]} GMT`;
  return `${day}${PAIRS[Math.floor(year / 100)]}${PAIRS[year % 100]} ${time}`;
}

const ZERO = 48; // "0"

/** Two decimal digits as a number; NaN, which no comparison lets pass, of anything else. */
function pair(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}
