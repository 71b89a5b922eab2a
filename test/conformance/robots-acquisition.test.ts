// Does each answer to a request for robots.txt lead where RFC 9309 2.3.1, 2.4 and 2.5 say?
import { acquireRobots, type RobotsAnswer } from "../../core/robots/acquire.ts";
import { judgeRobots } from "../../core/robots/judge.ts";
import { parseRobots } from "../../core/robots/parse.ts";
import { limits } from "../../schemas/limits.ts";
import { bodyEnds, failureReasons } from "../../schemas/reasons.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { conformance } from "./lib.ts";

interface Case {
  status?: number | string;
  cache?: string;
  limit?: string;
  body?: string;
  allowAll?: boolean;
  /** Whether the answer is to be asked for again soon. */
  defer?: boolean;
  source: string;
}

const FILE = "robots-fetch-status.json";
const NOW = Date.UTC(2027, 2, 4);
const DAY = 24 * 3_600_000;
const KIB = 1024;
const RULES = Buffer.from("User-agent: *\nDisallow: /closed");

conformance({
  name: "robots.txt: acquisition",
  files: [FILE],
  cases: 40,
  justified: {
    "403 cpython PasswordProtectedSiteTestCase": "RFC 9309 2.3.1.3: any 4xx is unavailable, and allows",
  },
  judge(data, check) {
    for (const one of data.json<Case[]>(FILE)) {
      const subject = one.status ?? (one.cache === undefined ? "limit" : "cache");
      const id = `${subject} ${one.source}`;
      if (one.allowAll !== undefined) check(id, () => numeric(one), { allowAll: one.allowAll, defer: one.defer });
      else check(id, () => textual[subject]!(), true);
    }
  },
});

function numeric({ status, body, defer }: Case) {
  const state = after(undefined, response(Number(status), Buffer.from(body ?? "")));
  const again = state.expiresAt < NOW + DAY;
  return { allowAll: verdict(state, "/closed") === "allow", defer: defer === undefined ? undefined : again };
}

/** What the standard says of many answers at once, tried with each of them. */
const textual: Record<string, () => boolean> = {
  "2xx": () =>
    all(200, 299, (status) => {
      const state = after(undefined, response(status, RULES));
      return verdict(state, "/closed") === "disallow" && verdict(state, "/open") === "allow";
    }),
  "3xx": () =>
    [301, 302, 303, 307, 308].every((status) => hops(status, 5) === "allow disallow" && hops(status, 6) === "unreachable"),
  // 429 alone asks for rest: it neither allows nor forbids (the case of its own below).
  "4xx": () => all(400, 499, (status) => status === 429 || verdict(after(undefined, response(status)), "/closed") === "allow"),
  "429": () => verdict(after(undefined, response(429)), "/open") === "deferred",
  "5xx": () => all(500, 599, (status) => verdict(after(undefined, response(status)), "/open") === "unreachable"),
  "network error": () =>
    [...failureReasons, ...bodyEnds].every(
      (reason) => verdict(after(undefined, { kind: "failure", reason }), "/open") === "unreachable",
    ),
  cache: () =>
    [undefined, 0, DAY / 2, DAY, 100 * DAY, Number.NaN].every((maxAgeMs) => {
      const answer = { ...response(200, RULES), ...(maxAgeMs !== undefined && { maxAgeMs }) };
      return after(undefined, answer).expiresAt <= NOW + DAY;
    }),
  limit: () => {
    const rule = "\nDisallow: /closed\n";
    const head = "User-agent: *\n#";
    const body = Buffer.from(head.padEnd(500 * KIB - rule.length, "-") + rule);
    return limits.robotsBytes >= 500 * KIB && verdict(after(undefined, response(200, body)), "/closed") === "disallow";
  },
};

/** The verdict after so many redirects, the last of them to another authority. */
function hops(status: number, count: number): string {
  let state: RobotsState | undefined;
  for (let hop = 1; hop <= count; hop++)
    state = after(state, { ...response(status), location: `https://other.example/${hop}` });
  if (count <= 5) state = after(state, response(200, RULES));
  return [...new Set([verdict(state!, "/open"), verdict(state!, "/closed")])].join(" ");
}

function all(first: number, last: number, holds: (status: number) => boolean): boolean {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at).every(holds);
}

function response(status: number, body?: Uint8Array): Extract<RobotsAnswer, { kind: "response" }> {
  return { kind: "response", url: "https://h.example/robots.txt", status, ...(body !== undefined && { body }) };
}

function after(before: RobotsState | undefined, answer: RobotsAnswer): RobotsState {
  return acquireRobots(before, answer, NOW, 0).state;
}

function verdict(state: RobotsState, path: string): string {
  const rules = state.body && parseRobots(state.body, "OurBot");
  return judgeRobots(state, rules, `https://h.example${path}`, NOW).verdict;
}
