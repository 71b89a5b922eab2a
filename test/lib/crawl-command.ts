// What does `npm run crawl` do as its users have it? The command as a child process: started, watched, stopped, and what it left behind.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CrawlReport } from "../../pipelines/report.ts";
import { type EventKind, type EventOf, eventShapes } from "../../schemas/events.ts";
import { type RequestLogEntry, type SiteHandler, startWeb, type Web } from "./web-server.ts";

export interface EndedCommand {
  /** null where a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningCommand {
  readonly ended: Promise<EndedCommand>;
  kill(signal: NodeJS.Signals): void;
}

const COMMANDS = join(import.meta.dirname, "..", "..", "pipelines", "commands");

/** The tests start the command some two hundred times: compiled code is kept, which saves a third of each start. */
const COMPILE_CACHE = join(tmpdir(), "gleaner-test-compile-cache");

/** No crawl of a test takes longer; one that does is ended, and its test fails by the signal. */
const RUN_MS_MAX = 120_000;

/** Starts npm run crawl with these arguments and no others. It never outlives this process. */
export function startCommand(args: readonly string[], cwd?: string): RunningCommand {
  return startNamed("crawl", args, cwd);
}

/** The same of any command that is launched from pipelines/commands. */
export function startNamed(name: string, args: readonly string[], cwd?: string): RunningCommand {
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...inherited };
  const child = spawn(process.execPath, [join(COMMANDS, `${name}.ts`), ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd && { cwd }),
  });
  const end = (): void => void child.kill("SIGKILL");
  const timer = setTimeout(end, RUN_MS_MAX);
  process.once("exit", end);
  const ended = endOf(child).finally(() => {
    clearTimeout(timer);
    process.off("exit", end);
  });
  return { ended, kill: (signal) => void child.kill(signal) };
}

async function endOf(child: ChildProcess): Promise<EndedCommand> {
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (part: string) => {
      said[name] += part;
    });
  const [code, signal] = await once(child, "close");
  return { code, signal, ...said };
}

export function runCommand(args: readonly string[], cwd?: string): Promise<EndedCommand> {
  return startCommand(args, cwd).ended;
}

/** A web whose every host ends in .test, an empty data folder, and what leads a crawl to them. */
export interface Stage {
  web: Web;
  /** Not made yet. */
  data: string;
  /** Of the test itself; `data` lies in it. */
  folder: string;
  /** --data, --connect-to, --allow-address and no delay: every port of every *.test host leads to `web`. */
  flags: string[];
  crawl(...args: string[]): Promise<EndedCommand>;
  /** Crawls with --json; fails where the exit code is not `code`. */
  report(code: number, ...args: string[]): Promise<CrawlReport>;
}

/** Runs a test on a stage of its own and clears it away. */
export async function onStage(
  sites: Readonly<Record<string, SiteHandler>>,
  run: (stage: Stage) => Promise<void>,
): Promise<void> {
  const web = await startWeb({ sites });
  try {
    await inFolder(async (folder) => {
      const data = join(folder, "data");
      const way = ["--connect-to", `*.test:*=127.0.0.1:${web.port}`, "--allow-address", "127.0.0.0/8"];
      const flags = [...way, "--delay-ms", "0", "--idle-horizon", "2", "--data", data];
      const crawl = (...args: string[]): Promise<EndedCommand> => runCommand([...flags, ...args]);
      const report = async (code: number, ...args: string[]): Promise<CrawlReport> =>
        reportOf(await crawl("--json", ...args), code);
      await run({ web, folder, data, flags, crawl, report });
    });
  } finally {
    await web.close();
  }
}

export async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "gleaner-crawl-"));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The object that --json promises on stdout. Throws where there is not exactly one, or the command ended otherwise. */
export function reportOf(end: EndedCommand, code: number): CrawlReport {
  if (end.code !== code)
    throw new Error(`the crawl ended with ${end.code ?? end.signal}, not ${code}: ${end.stderr.slice(-2000)}`);
  const lines = end.stdout.split("\n");
  if (lines.length !== 2 || lines[1] !== "") throw new Error(`not one line on stdout: ${JSON.stringify(end.stdout)}`);
  return JSON.parse(lines[0]!) as CrawlReport;
}

/** Whole lines of the events of one kind, in no order. */
export function eventsIn<K extends EventKind>(data: string, kind: K): EventOf<K>[] {
  const files = globSync(`events/${kind}/*/*.ndjson`, { cwd: data });
  return files.flatMap((file) => {
    const lines = readFileSync(join(data, file), "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const event: unknown = JSON.parse(line);
      const fault = eventShapes[kind].fault(event, "");
      if (fault !== undefined) throw new Error(`${file} holds an event that is none: ${fault}`);
      return event as EventOf<K>;
    });
  });
}

/** Of one host (all without), in order of arrival, robots.txt aside. */
export function askedPaths(log: readonly RequestLogEntry[], host?: string): string[] {
  return log.filter((entry) => (host ?? entry.host) === entry.host && entry.path !== "/robots.txt").map((entry) => entry.path);
}

export const html = { "content-type": "text/html; charset=utf-8" };

/** A site of these bodies by path; it has no robots.txt, and everything else is 404. */
export function site(pages: Readonly<Record<string, string>>): SiteHandler {
  return ({ path }) =>
    Object.hasOwn(pages, path) ? { headers: html, body: pages[path]! } : { status: 404, headers: html, body: "none" };
}

export const links = (...hrefs: string[]): string => hrefs.map((href) => `<a href="${href}">${href}</a>`).join("\n");
