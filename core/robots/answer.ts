// What kind of answer to a request for robots.txt is this? RFC 9309 2.3.1.1 to 2.3.1.4.
import { limits } from "../../schemas/limits.ts";
import type { BodyEnd, FailureReason } from "../../schemas/reasons.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";

export interface RobotsResponse {
  kind: "response";
  /** The one asked, absolute. */
  url: string;
  status: number;
  /** Of a 2xx, decoded; empty where it was empty. */
  body?: Uint8Array;
  /** The body is the beginning of a longer one. */
  cut?: true;
  location?: string;
  etag?: string;
  lastModified?: string;
  /** From retryAfterMs() of core/http. */
  retryAfterMs?: number;
  /** Cache-Control's, 0 for no-store and no-cache. */
  maxAgeMs?: number;
}

export type RobotsAnswer =
  | RobotsResponse
  | { kind: "failure"; reason: FailureReason | BodyEnd }
  /** The clock of the redirect target admits nothing before `until` (Unix ms). */
  | { kind: "put-off"; target: string; hop: number; until: number };

/** What stands in RobotsState.reason while unreachable. */
export type RobotsTrouble = FailureReason | BodyEnd | OddAnswer;
type OddAnswer =
  | "status" // 5xx, and whatever has no meaning here
  | "no-body" // a 2xx whose body was not given
  | "not-modified" // 304, though nothing was asked conditionally
  | "redirect-hops" // more than limits.robotsHops
  | "redirect-location" // none, or not a URL, or one too long
  | "redirect-scheme"; // neither http nor https

export type RobotsEvent =
  | { kind: "rules"; response: RobotsResponse; body: Uint8Array }
  | { kind: "not-modified"; response: RobotsResponse }
  | { kind: "unavailable"; response: RobotsResponse }
  | { kind: "throttled"; response: RobotsResponse }
  | { kind: "redirect"; status: number; target: string; hop: number }
  | { kind: "put-off"; target: string; hop: number; until: number }
  | { kind: "unreachable"; reason: RobotsTrouble; response?: RobotsResponse };

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const EMPTY = new Set([204, 205]);

/** Whatever the state before and the answer, exactly one event. */
export function eventOf(before: RobotsState | undefined, answer: RobotsAnswer): RobotsEvent {
  if (answer.kind === "failure") return { kind: "unreachable", reason: answer.reason };
  if (answer.kind === "put-off") return hopTo(answer.target, answer.hop) ?? answer;
  const { status } = answer;
  if (status >= 200 && status < 300) return rulesOf(answer);
  if (REDIRECTS.has(status)) return redirectOf(before, answer);
  if (status === 304) {
    const asked = Object.keys(robotsRequestHeaders(before)).length > 0;
    return asked ? { kind: "not-modified", response: answer } : unreachable("not-modified", answer);
  }
  if (status === 429) return { kind: "throttled", response: answer };
  if (status >= 400 && status < 500) return { kind: "unavailable", response: answer };
  return unreachable("status", answer);
}

/** Validators for the first request of a chain. None where the body came by redirect: they are the target's, and would mislead. */
export function robotsRequestHeaders(state: RobotsState | undefined): Record<string, string> {
  if (state?.body === undefined || state.target !== undefined) return {};
  return {
    ...(state.etag !== undefined && { "if-none-match": state.etag }),
    ...(state.lastModified !== undefined && { "if-modified-since": state.lastModified }),
  };
}

/** 2.5: what lies beyond the limit is not kept, nor is the line that it cuts: half a path would be another rule. */
function rulesOf(response: RobotsResponse): RobotsEvent {
  const body = response.body ?? (EMPTY.has(response.status) ? new Uint8Array() : undefined);
  if (body === undefined) return unreachable("no-body", response);
  const cut = response.cut === true || body.length > limits.robotsBytes;
  return { kind: "rules", response, body: cut ? wholeLines(body.subarray(0, limits.robotsBytes)) : body };
}

/** Up to the last line end, in memory of its own. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  return bytes.slice(0, 1 + Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d)));
}

/** Over authorities too; the rules then count for the host that sent us. */
function redirectOf(before: RobotsState | undefined, response: RobotsResponse): RobotsEvent {
  const target = response.location === undefined ? null : URL.parse(response.location.trim(), response.url);
  if (target === null) return unreachable("redirect-location", response);
  target.hash = "";
  target.username = "";
  target.password = "";
  const hop = hopsOf(before) + 1;
  const refused = hopTo(target.href, hop);
  return refused === undefined
    ? { kind: "redirect", status: response.status, target: target.href, hop }
    : { ...refused, response };
}

/** Why a hop is not taken; undefined where it is. */
function hopTo(target: string, hop: number): Extract<RobotsEvent, { kind: "unreachable" }> | undefined {
  if (hop > limits.robotsHops) return { kind: "unreachable", reason: "redirect-hops" };
  const url = target.length > limits.urlLength ? null : URL.parse(target);
  if (url === null) return { kind: "unreachable", reason: "redirect-location" };
  if (url.protocol !== "http:" && url.protocol !== "https:") return { kind: "unreachable", reason: "redirect-scheme" };
  return undefined;
}

function unreachable(reason: RobotsTrouble, response: RobotsResponse): RobotsEvent {
  return { kind: "unreachable", reason, response };
}

/** Redirects followed so far: a state that stands in a chain goes on with it. */
export function hopsOf(before: RobotsState | undefined): number {
  return before?.status === "redirecting" ? (before.hop ?? 0) : 0;
}
