// In which units does Google bill? Bytes by powers of two, also where a page says GB or TB; months of 730 hours.

export const DAY_SECONDS = 24 * 60 * 60;
export const DAY_HOURS = 24;
export const MONTH_DAYS = 730 / DAY_HOURS;

export function gib(bytes: number): number {
  return bytes / 2 ** 30;
}

export function tib(bytes: number): number {
  return bytes / 2 ** 40;
}
