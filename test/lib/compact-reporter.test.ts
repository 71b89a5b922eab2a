import assert from "node:assert/strict";
import { test } from "node:test";
import { compact, type TestEvent } from "./compact-reporter.ts";

const ROOT = "/project";
const FILE = `${ROOT}/test/a.test.ts`;
const counts = { tests: 0, passed: 0, skipped: 0, todo: 0, cancelled: 0, failed: 0, suites: 0, topLevel: 0 };
const summary = (success: boolean, more: Partial<typeof counts>): TestEvent => ({
  type: "test:summary",
  data: { file: FILE, success, counts: { ...counts, ...more }, duration_ms: 12.3 },
});
const failed = (name: string, error: object): TestEvent =>
  ({ type: "test:fail", data: { name, file: FILE, line: 7, details: { error, duration_ms: 1, type: "test" } } }) as TestEvent;
const total = (message: string): TestEvent => ({ type: "test:diagnostic", data: { message, nesting: 0 } });

async function told(...events: TestEvent[]): Promise<string> {
  async function* given() {
    yield* events;
  }
  let text = "";
  for await (const part of compact(ROOT)(given())) text += part;
  return text;
}

test("a file that passes is one line, and what it printed is not told", async () => {
  const printed: TestEvent = { type: "test:stdout", data: { file: FILE, message: "noise\n" } };
  assert.equal(await told(printed, summary(true, { tests: 2, passed: 2 })), "ok   test/a.test.ts (2 passed, 12 ms)\n");
});

test("a failure is told with its cause and with what its file printed", async () => {
  const printed: TestEvent = { type: "test:stderr", data: { file: FILE, message: "a hint\n" } };
  const failure = failed("adds", { cause: { expected: 1 } });
  assert.equal(
    await told(printed, failure, summary(false, { tests: 2, passed: 1 })),
    "FAIL test/a.test.ts (1 passed, 1 failed, 12 ms)\n" +
      "  FAIL test/a.test.ts:7 adds\n    { expected: 1 }\n  it printed:\n    a hint\n",
  );
});

test("a file that died without a summary is told with its exit code", async () => {
  assert.equal(await told(failed(FILE, { exitCode: 3, signal: null })), "  FAIL test/a.test.ts ended with exit code 3\n");
  assert.equal(await told(failed(FILE, { signal: "SIGKILL" })), "  FAIL test/a.test.ts ended with SIGKILL\n");
});

test("a suite that only fails by its tests is not told twice", async () => {
  assert.equal(await told(failed("suite", { failureType: "subtestsFailed", cause: "1 subtest failed" })), "");
});

test("skipped tests and their reasons come after the files, and node's own totals last", async () => {
  const skip: TestEvent = { type: "test:pass", data: { name: "reads", file: FILE, skip: "../shared is absent" } };
  assert.equal(
    await told(total("tests 1"), skip, total("pass 0"), total("some other remark"), summary(true, { tests: 1, skipped: 1 })),
    "ok   test/a.test.ts (0 passed, 1 skipped, 12 ms)\n" +
      "skipped: test/a.test.ts: reads: ../shared is absent\nℹ tests 1\nℹ pass 0\n",
  );
});

test("of an endless failure the first hundred lines are told", async () => {
  const cause = new Error(Array.from({ length: 300 }, (_, index) => `line ${index}`).join("\n"));
  const lines = (await told(failed("lists", { cause }), summary(false, { tests: 1 }))).split("\n");
  assert.equal(lines[101], "    line 99");
  assert.match(lines[102]!, /^ {4}… \d+ lines more: run this file alone/);
});
