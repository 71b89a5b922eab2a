// Which instant does a sitemap's lastmod name? The W3C's profile of ISO 8601, from a year alone to fractions of a second.

const DATE_CHARS = 40; // with nine digits of fraction 35
const format =
  /^(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2})(?:[Tt ](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?<zone>[Zz]|[+-]\d{2}:?\d{2})?)?)?)?$/;

/**
 * Unix ms, the first instant of what is named; undefined where it is no such date, or before 1970 (no document of the web is older). A
 * time without a zone is outside the profile but common, and read as UTC.
 */
export function parseW3cDate(value: string): number | undefined {
  const text = value.length > DATE_CHARS * 2 ? "" : value.trim();
  const parts = format.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const [year, month, day] = [Number(parts.year), Number(parts.month ?? 1), Number(parts.day ?? 1)];
  const [hour, minute, second] = [Number(parts.hour ?? 0), Number(parts.minute ?? 0), Number(parts.second ?? 0)];
  if (year < 1970 || hour > 23 || minute > 59 || second > 60) return undefined;
  const offset = offsetMs(parts.zone ?? "Z");
  const midnight = Date.UTC(year, month - 1, day);
  const date = new Date(midnight);
  if (offset === undefined || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const at = midnight + ((hour * 60 + minute) * 60 + Math.min(second, 59)) * 1000 + milliseconds(parts.fraction) - offset;
  return at >= 0 ? at : undefined;
}

function milliseconds(fraction: string | undefined): number {
  return Number((fraction ?? "").padEnd(3, "0").slice(0, 3));
}

/** `Z` or `+hh:mm`, at most a day. */
export function offsetMs(zone: string): number | undefined {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60 * 1000;
}
