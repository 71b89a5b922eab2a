// npm run conformance: one table of all subjects. Runs test/conformance/**/*.test.ts, or those whose path holds one of the arguments.
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { compact } from "../lib/compact-reporter.ts";
import { type Score, scoreOf } from "./lib.ts";

const ROOT = join(import.meta.dirname, "../..");
const CONCURRENCY = Math.min(2, availableParallelism());

const wanted = process.argv.slice(2);
const files = globSync("test/conformance/**/*.test.ts", { cwd: ROOT })
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();
if (files.length === 0) {
  console.error(`no file of test/conformance holds ${wanted.join(" or ")}`);
  process.exit(1);
}

const scores: Score[] = [];
let skipped = 0;
let failed = 0;
const events = run({
  files: files.map((file) => join(ROOT, file)),
  cwd: ROOT,
  concurrency: CONCURRENCY,
  execArgv: ["--import", join(ROOT, "test/lib/file-deadline.ts")],
});
events.on("test:diagnostic", ({ message }) => {
  const score = scoreOf(message);
  if (score !== undefined) scores.push(score);
});
events.on("test:pass", ({ skip }) => {
  if (skip !== undefined) skipped++;
});
events.on("test:summary", ({ file, success, counts }) => {
  if (file !== undefined) failed += counts.tests - counts.passed - counts.skipped - counts.todo;
  else if (!success || counts.tests === 0) process.exitCode = 1;
});
const told = events.compose(compact(ROOT));
told.on("data", (text: string | Buffer) => {
  // Files that pass say nothing here: the table does.
  const kept = String(text)
    .split("\n")
    .filter((line) => !line.startsWith("ok  ") && !line.startsWith("ℹ"));
  process.stdout.write(kept.join("\n"));
});
told.on("end", () => process.stdout.write(table()));

function table(): string {
  const total = scores.reduce(add, { subject: "all", cases: 0, passed: 0, justified: 0 });
  const head = ["subject", "cases", "passed", "justified differences"];
  const rows = [...scores.sort((a, b) => a.subject.localeCompare(b.subject)), total].map((score) => [
    score.subject,
    ...[score.cases, score.passed, score.justified].map((count) => count.toLocaleString("en")),
  ]);
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: string[]) =>
    `${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[at]!))).join("  ")}\n`;
  const tail = `${scores.length} subjects, ${total.cases} cases: ${total.passed} passed, ${total.justified} justified differences, ${
    total.cases - total.passed - total.justified
  } unjustified; ${failed} tests failed, ${skipped} skipped`;
  return `\n${line(head)}${rows.map(line).join("")}\n${tail}\n`;
}

function add(sum: Score, score: Score): Score {
  return {
    ...sum,
    cases: sum.cases + score.cases,
    passed: sum.passed + score.passed,
    justified: sum.justified + score.justified,
  };
}
