// How long does a server ask us to wait? Retry-After of RFC 9110 10.2.3: seconds, or a date.
import { limits } from "../../schemas/limits.ts";
import { parseHttpDate } from "./http-date.ts";

/**
 * Milliseconds from `now` (Unix ms), more than 0 and at most limits.retryAfterMsMax. Undefined where the value asks for no wait (zero, a
 * past date) or says nothing usable: the caller's own back-off then stands, so that no server shortens it.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = (value ?? "").trim();
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text, now) - now;
  return wait > 0 ? Math.min(wait, limits.retryAfterMsMax) : undefined;
}

/** NaN where it is no date. "UTC" is outside the grammar, but whoever writes it means GMT. */
function dateOf(text: string, now: number): number {
  return parseHttpDate(text.replace(/ UTC$/, " GMT"), now) ?? Number.NaN;
}
