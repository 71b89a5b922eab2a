// Does every state of robots.txt give the answer that asks for nothing it should not? RFC 9309 2.3.1 and 2.4.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeRobots, type RobotsJudgement } from "../../../core/robots/judge.ts";
import { parseRobots } from "../../../core/robots/parse.ts";
import { type RobotsState, robotsStatuses } from "../../../schemas/robots-state.ts";

const UNTIL = 5000;
const rules = parseRobots(Buffer.from("User-agent: *\nDisallow: /p"), "OurBot");
const stateOf = (status: RobotsState["status"]): RobotsState => ({
  status,
  fetchedAt: 1000,
  expiresAt: UNTIL,
  reason: "timeout",
});
const judge = (state: RobotsState | undefined, path: string, now = 2000) =>
  judgeRobots(state, rules, `http://h.example${path}`, now);

test("an unexpired state answers by its status", () => {
  const expected: Record<RobotsState["status"], RobotsJudgement> = {
    rules: { verdict: "disallow", rule: "Disallow: /p", line: 2 },
    "allow-all": { verdict: "allow" },
    unreachable: { verdict: "unreachable", reason: "timeout", until: UNTIL },
    deferred: { verdict: "deferred", until: UNTIL },
    redirecting: { verdict: "deferred", until: UNTIL },
  };
  for (const status of robotsStatuses) assert.deepEqual(judge(stateOf(status), "/p"), expected[status], status);
  assert.deepEqual(judge(stateOf("rules"), "/q"), { verdict: "allow" });
});

test("an expired state, or none, means to ask first, whatever it was", () => {
  for (const status of robotsStatuses) assert.deepEqual(judge(stateOf(status), "/q", UNTIL), { verdict: "missing" }, status);
  assert.deepEqual(judge(undefined, "/q"), { verdict: "missing" });
});

test("rules that the caller does not have are missing, not open", () => {
  assert.deepEqual(judgeRobots(stateOf("rules"), undefined, "http://h.example/q", 2000), { verdict: "missing" });
});
