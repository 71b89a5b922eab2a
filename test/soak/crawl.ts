// How does the soak crawl its web? As a user would: the crawl command in a process of its own, watched by its memory and what it says.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CrawlReport } from "../../pipelines/report.ts";
import { residentBytes } from "./memory.ts";
import type { SoakWeb } from "./web.ts";

const COMMAND = join(import.meta.dirname, "../../pipelines/commands/crawl.ts");
const SAMPLE_MS = 5000;
/** From SIGINT to the end: requests under way are finished. */
const STOP_MS_MAX = 60_000;

export interface SoakCrawl {
  /** Resident bytes of its processes, one sample each five seconds. */
  samples: number[];
  /** Lines on stderr that no crawl should have to say, the first of them. */
  alarms: string[];
  alarmsCount: number;
  /** The last lines of stderr. */
  last: string[];
  ended: Promise<SoakEnd>;
  /** SIGINT; SIGKILL where that is not enough. */
  stop(): void;
}

export interface SoakEnd {
  /** null where a signal ended it. */
  code: number | null;
  /** undefined where it gave none. */
  report: CrawlReport | undefined;
}

export interface SoakCrawlOptions {
  folder: string;
  delayMs: number;
  /** For a request in all. */
  requestMs: number;
}

export function startSoakCrawl(web: SoakWeb, options: SoakCrawlOptions): SoakCrawl {
  const child = spawn(process.execPath, [COMMAND, ...crawlArguments(web, options)], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // Ctrl-C comes to us, and we tell it once
  });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  const crawl: SoakCrawl = { samples: [], alarms: [], alarmsCount: 0, last: [], ended: endOf(child), stop };
  const sampler = setInterval(() => {
    if (child.pid !== undefined && child.exitCode === null) crawl.samples.push(residentBytes(child.pid));
  }, SAMPLE_MS);
  watchStderr(child, crawl);
  let killer: NodeJS.Timeout | undefined;
  function stop(): void {
    clearInterval(sampler); // what a crawl holds while it ends is not judged
    child.kill("SIGINT");
    killer = setTimeout(end, STOP_MS_MAX);
  }
  void crawl.ended.then(() => {
    clearInterval(sampler);
    clearTimeout(killer);
    process.off("exit", end);
  });
  return crawl;
}

function crawlArguments({ seeds, connectTo, policies }: SoakWeb, { folder, delayMs, requestMs }: SoakCrawlOptions): string[] {
  const seedsFile = join(folder, "seeds.txt");
  const policiesFile = join(folder, "policies.json");
  writeFileSync(seedsFile, `${seeds.join("\n")}\n`);
  writeFileSync(policiesFile, JSON.stringify(policies));
  return [
    ...["--seeds", seedsFile],
    ...["--policies", policiesFile],
    ...["--data", join(folder, "data")],
    ...connectTo.flatMap((rule) => ["--connect-to", rule]),
    ...["--allow-address", "127.0.0.1/32"],
    ...["--contact", "soak@soak.test"],
    ...["--scope", "any"],
    ...["--delay-ms", String(delayMs)],
    ...["--timeout-ms", String(requestMs)],
    "--sitemaps",
    "--json",
  ];
}

const ALARM =
  /unhandled|uncaught|rejection|fatal error|heap out of memory|\b(?:Type|Range|Reference|Assertion)Error\b|^\s+at /i;
const ALARMS_MAX = 20;
const LAST_MAX = 10;
const LINE_CHARS_MAX = 500;

function watchStderr(child: ChildProcess, crawl: SoakCrawl): void {
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (part: string) => {
    const lines = (rest + part).split("\n");
    rest = lines.pop()?.slice(0, LINE_CHARS_MAX) ?? "";
    for (const line of lines) {
      const short = line.slice(0, LINE_CHARS_MAX);
      crawl.last = [...crawl.last, short].slice(-LAST_MAX);
      if (!ALARM.test(short)) continue;
      crawl.alarmsCount += 1;
      if (crawl.alarms.length < ALARMS_MAX) crawl.alarms.push(short);
    }
  });
}

async function endOf(child: ChildProcess): Promise<SoakEnd> {
  let stdout = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    stdout += part;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, report: reportIn(stdout) };
}

function reportIn(stdout: string): CrawlReport | undefined {
  try {
    return JSON.parse(stdout) as CrawlReport;
  } catch {
    return undefined;
  }
}
