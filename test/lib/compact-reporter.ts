// How are test results told where nobody watches? A line a file, failures in full, what was skipped and why, then node's own last lines.
import { relative } from "node:path";
import type { EventData } from "node:test";
import { inspect } from "node:util";

/** The events of node:test's run() that are read here. */
export type TestEvent =
  | { type: "test:pass"; data: Pick<EventData.TestPass, "name" | "file" | "skip" | "todo"> }
  | { type: "test:fail"; data: Pick<EventData.TestFail, "name" | "file" | "line" | "details" | "todo"> }
  | { type: "test:stdout" | "test:stderr"; data: { file: string | undefined; message: string } }
  | { type: "test:diagnostic"; data: { message: string; nesting: number; file?: string } }
  | { type: "test:summary"; data: Pick<EventData.TestSummary, "file" | "success" | "counts" | "duration_ms"> };

/** Of what a failing file printed, this much is told. */
const PRINTED_CHARS_MAX = 20_000;

/** Of what a failing test threw, these lines are told; the longest are differences between long lists. */
const FAILURE_LINES_MAX = 100;

/** A reporter for paths relative to `root`. */
export function compact(root: string): (events: AsyncIterable<TestEvent>) => AsyncGenerator<string> {
  return async function* report(events) {
    const printed = new Map<string, string>();
    const failures = new Map<string, string>();
    const skipped: string[] = [];
    const totals: string[] = [];
    function* failuresOf(file: string): Generator<string> {
      yield failures.get(file) ?? "";
      if (printed.has(file)) yield `  it printed:\n${indented(printed.get(file)!)}`;
      failures.delete(file);
    }
    for await (const { type, data } of events) {
      const file = data.file === undefined ? "" : relative(root, data.file);
      if (type === "test:stdout" || type === "test:stderr") {
        printed.set(file, ((printed.get(file) ?? "") + data.message).slice(-PRINTED_CHARS_MAX));
      } else if (type === "test:fail" && data.todo === undefined) {
        failures.set(file, (failures.get(file) ?? "") + failure(file, data));
      } else if (type === "test:pass" && data.skip !== undefined) {
        skipped.push(skipLine(root, data));
      } else if (type === "test:diagnostic" && data.nesting === 0 && isTotal(data.message)) {
        totals.push(`ℹ ${data.message}\n`);
      } else if (type === "test:summary" && file !== "") {
        yield fileLine(file, data);
        if (!data.success) yield* failuresOf(file);
      }
    }
    // Files that died before they could sum up.
    for (const file of [...failures.keys()]) yield* failuresOf(file);
    yield* skipped;
    yield* totals;
  };
}

/** A test that was skipped, and why. */
export function skipLine(root: string, { file, name, skip }: Pick<EventData.TestPass, "file" | "name" | "skip">): string {
  const reason = typeof skip === "string" && skip !== "" ? skip : "no reason given";
  return `skipped: ${relative(root, file ?? root)}: ${name}: ${reason}\n`;
}

function isTotal(message: string): boolean {
  return /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(message);
}

type Summary = Extract<TestEvent, { type: "test:summary" }>["data"];

function fileLine(file: string, { success, counts, duration_ms }: Summary): string {
  const failed = counts.tests - counts.passed - counts.skipped - counts.todo;
  const parts = [
    `${counts.passed} passed`,
    failed > 0 && `${failed} failed`,
    counts.skipped > 0 && `${counts.skipped} skipped`,
  ];
  return `${success ? "ok  " : "FAIL"} ${file} (${parts.filter(Boolean).join(", ")}, ${Math.round(duration_ms)} ms)\n`;
}

type Failure = Extract<TestEvent, { type: "test:fail" }>["data"];

function failure(file: string, { name, line, details }: Failure): string {
  const { error } = details;
  const { failureType, exitCode, signal } = error as { failureType?: string; exitCode?: number | null; signal?: string | null };
  // The subtests have told.
  if (failureType === "subtestsFailed") return "";
  if (name.endsWith(file)) return `  FAIL ${file} ended with ${signal ?? `exit code ${exitCode}`}\n`;
  // The cause is what the test threw; without one node itself has something to say, of a time limit say.
  const cause: unknown = error.cause ?? error;
  const text = cause instanceof Error ? (cause.stack ?? String(cause)) : inspect(cause);
  return `  FAIL ${file}${line === undefined ? "" : `:${line}`} ${name}\n${indented(cut(text))}`;
}

function cut(text: string): string {
  const lines = text.trimEnd().split("\n");
  const more = lines.length - FAILURE_LINES_MAX;
  return more <= 0
    ? text
    : `${lines.slice(0, FAILURE_LINES_MAX).join("\n")}\n… ${more} lines more: run this file alone with node --test`;
}

function indented(text: string): string {
  return `${text.trimEnd().replace(/^/gm, "    ")}\n`;
}
