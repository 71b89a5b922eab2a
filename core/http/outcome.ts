// What class of outcome is this status, and where does a redirect lead? RFC 9110 section 15.
import type { Outcome } from "../../schemas/reasons.ts";

/** `fetched` means: read the body and see. A 304 to a request without validators is no answer to what was asked (field case C3). */
export function outcomeOf(status: number, conditional: boolean, retryAfter: boolean): Outcome {
  if (status === 304) return conditional ? "unchanged" : "server-error";
  if (status >= 200 && status < 300) return "fetched";
  if (isRedirect(status)) return "redirect";
  if (status === 404 || status === 410) return "gone";
  if (status === 429 || (status === 503 && retryAfter)) return "throttled";
  if (status >= 400 && status < 500) return "client-error";
  return "server-error";
}

/** 300 and 304 name no single target. */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** The first header of that name, trimmed; names compare without case. */
export function headerOf(headers: readonly (readonly [string, string])[], name: string): string | undefined {
  const wanted = name.toLowerCase();
  return headers.find(([found]) => found.toLowerCase() === wanted)?.[1].trim();
}

export function headersOf(headers: readonly (readonly [string, string])[], name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.filter(([found]) => found.toLowerCase() === wanted).map(([, value]) => value.trim());
}
