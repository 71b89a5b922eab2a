// Which tests are there, and do they pass? Runs test/**/*.test.ts, all or those whose path holds one of the arguments.
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { compact, skipLine } from "./lib/compact-reporter.ts";

/** Files at once. A file is a process, and two keep two cores busy; more make the timing of socket tests worse. */
const CONCURRENCY = Math.min(2, availableParallelism());

const ROOT = join(import.meta.dirname, "..");

const wanted = process.argv.slice(2);
const files = globSync("test/**/*.test.ts", { cwd: ROOT })
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();

if (files.length === 0) {
  console.error(wanted.length === 0 ? "no test files under test/" : `no test file's path holds ${wanted.join(" or ")}`);
  process.exit(1);
}

const events = run({
  files: files.map((file) => join(ROOT, file)),
  cwd: ROOT,
  concurrency: CONCURRENCY,
  // run()'s own time limit holds for a test, not for its file.
  execArgv: ["--import", join(ROOT, "test/lib/file-deadline.ts")],
});
const skipped: string[] = [];
events.on("test:pass", (data) => {
  if (data.skip !== undefined) skipped.push(skipLine(ROOT, data));
});
events.on("test:summary", ({ file, success, counts }) => {
  if (file === undefined && (!success || counts.tests === 0)) process.exitCode = 1;
});
if (process.stdout.isTTY) {
  const told = events.compose(new spec());
  told.pipe(process.stdout);
  told.on("end", () => process.stdout.write(skipped.join("")));
} else {
  events.compose(compact(ROOT)).pipe(process.stdout);
}
