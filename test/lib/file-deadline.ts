// Does a test file end? Imported before each: one that takes too long, or leaves something open after its tests, is ended and has failed.
import { after } from "node:test";
import { isMainThread } from "node:worker_threads";

/** From its start. The longest, twenty crawls that are killed and resumed, takes a fraction of it. */
const FILE_MS_MAX = 10 * 60_000;

/** From the end of its last test: what is closing may close. */
const OPEN_MS_MAX = 10_000;

// Workers and forked processes of a test inherit the import, and are the test's to end.
if (isMainThread && process.argv[1]?.endsWith(".test.ts") === true) {
  endAfter(FILE_MS_MAX, "its tests still run");
  after(() => endAfter(OPEN_MS_MAX, "its tests have ended, but something is still open"));
}

function endAfter(delayMs: number, what: string): void {
  const end = () => {
    console.error(
      `${what} after ${delayMs / 1000} s: ${process.getActiveResourcesInfo().join(", ") || "nothing that node knows of"}`,
    );
    process.exit(1);
  };
  setTimeout(end, delayMs).unref();
}
