// How does the demo crawl its web? As a user would: the crawl command in a process of its own, with flags and nothing else.
import { type ChildProcess, spawn } from "node:child_process";
import { extname, join } from "node:path";
import type { DemoWeb } from "./web/start.ts";

/** From an answer to the next request; a tenth of a second more or less decides how long the demo takes. */
export const DELAY_MS = 200;
/** Ends the calendar, which has no end of its own. */
const DEPTH_MAX = 30;
/** Longer than the demo's Retry-After, shorter than the back-off of the host that is down. */
const IDLE_HORIZON_SECONDS = 5;

/** Limits of patterns, for a web too small for the default ones. */
const POLICIES = join(import.meta.dirname, "policies.json");

/** Compiled as this file is, or not. */
const COMMAND = join(import.meta.dirname, `../pipelines/commands/crawl${extname(import.meta.filename)}`);

/** `stores`: flags that say where it keeps everything. */
export function crawlArguments(web: Pick<DemoWeb, "seeds" | "connectTo">, stores: readonly string[]): string[] {
  return [
    ...web.seeds,
    ...stores,
    ...web.connectTo.flatMap((rule) => ["--connect-to", rule]),
    ...["--allow-address", "127.0.0.0/8"],
    ...["--contact", "demo@demo.test"],
    ...["--policies", POLICIES],
    "--sitemaps",
    ...["--delay-ms", String(DELAY_MS)],
    ...["--max-depth", String(DEPTH_MAX)],
    ...["--idle-horizon", String(IDLE_HORIZON_SECONDS)],
  ];
}

export interface Crawl {
  /** The exit code; 130 where a signal ended it. */
  ended: Promise<number>;
  /** Asks for a clean end; a second call ends it at once. */
  stop(): void;
}

const INTERRUPTED = 130;

/** Its output goes where ours does. In a session of its own, so that Ctrl-C reaches it once, by stop(). */
export function startCrawl(web: DemoWeb, folder: string): Crawl {
  const child = spawn(process.execPath, [COMMAND, ...crawlArguments(web, ["--data", folder])], {
    stdio: "inherit",
    detached: true,
  });
  return { ended: exitOf(child), stop: () => void child.kill("SIGINT") };
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? INTERRUPTED));
  });
}
