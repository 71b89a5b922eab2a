// Does a test file end? Imported before each: one that takes too long, or leaves something open after its tests, is ended and has failed.
import { afterEach, beforeEach } from "node:test";
import { isMainThread } from "node:worker_threads";

/** From its start. The longest, twenty crawls that are killed and resumed, takes a fraction of it. */
const FILE_MS_MAX = 10 * 60_000;

/** Without a test that runs: what is closing may close, and hooks may prepare the next one. */
const IDLE_MS_MAX = 20_000;

// Workers and forked processes of a test inherit the import, and are the test's to end.
if (isMainThread && process.argv[1]?.endsWith(".test.ts") === true) {
  let running = 0;
  let idle = setTimeout(() => {}, 0);
  beforeEach(() => {
    running += 1;
    clearTimeout(idle);
  });
  // Not after(): that comes as soon as those tests have ended that the file has told of so far.
  afterEach(() => {
    running -= 1;
    clearTimeout(idle);
    if (running <= 0) idle = endAfter(IDLE_MS_MAX, "no test runs, but something is still open");
  });
  endAfter(FILE_MS_MAX, "its tests still run");
}

/** A timer that keeps nothing open itself. */
function endAfter(delayMs: number, what: string): NodeJS.Timeout {
  const end = () => {
    console.error(
      `${what} after ${delayMs / 1000} s: ${process.getActiveResourcesInfo().join(", ") || "nothing that node knows of"}`,
    );
    process.exit(1);
  };
  return setTimeout(end, delayMs).unref();
}
