// npm run demo: a web of fifteen hosts on loopback, crawled by the project's own command in about half a minute.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { exitCodes } from "../pipelines/exit-codes.ts";
import { type Crawl, DELAY_MS, startCrawl } from "./crawl.ts";
import { freshFolder } from "./data-folder.ts";
import { introduction, nextSteps, printedVerdict } from "./say.ts";
import { trapStops } from "./stops.ts";
import { demoVerdict } from "./verdict.ts";
import { type DemoWeb, startDemoWeb } from "./web/start.ts";

const help = `A web of fifteen hosts on loopback, crawled in about half a minute; then what to look at.

  npm run demo [-- --data DIR]

  --data DIR   where the crawl is kept, default ./data/demo; wiped first if an earlier demo made it

Exit codes: ${exitCodes.done} the crawl ended well and was polite, ${exitCodes.fault} it was not, ${exitCodes.badUsage} bad usage, ${exitCodes.interrupted} interrupted; else the crawl's own.
`;

/** What the demo web saw, one request a line; beside the crawl's own files. */
const LOG_NAME = "web-log.ndjson";

/** npm passes Ctrl-C on to a process that the terminal has told already: two at once are one. */
const SAME_PRESS_MS = 500;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = parsed(args);
  if (typeof asked === "number") return asked;
  const fault = freshFolder(asked.data);
  if (fault !== undefined) return complained(fault);
  const web = await startDemoWeb();
  try {
    return await crawled(web, asked.data);
  } finally {
    await web.close();
  }
}

function parsed(args: readonly string[]): { data: string } | number {
  try {
    const options = { data: { type: "string" }, help: { type: "boolean", short: "h" } } as const;
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false, strict: true });
    if (!values.help) return { data: values.data ?? "./data/demo" };
    process.stdout.write(help);
    return exitCodes.done;
  } catch (error) {
    return complained(`${String((error as Error).message).split(/[.\n]/, 1)[0]}; npm run demo -- --help lists what there is`);
  }
}

function complained(line: string): number {
  process.stderr.write(`demo: ${line}\n`);
  return exitCodes.badUsage;
}

async function crawled(web: DemoWeb, folder: string): Promise<number> {
  process.stdout.write(`${introduction(web.sites, folder)}\n\n`);
  const crawl = startCrawl(web, folder);
  const endSignals = stopOnSignals(crawl);
  const code = await crawl.ended;
  endSignals();
  writeFileSync(join(folder, LOG_NAME), web.log.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  const verdict = demoVerdict({ sites: web.sites, log: web.log, delayMs: DELAY_MS, stops: trapStops(folder) });
  const finished = code === exitCodes.done || code === exitCodes.limit;
  process.stdout.write(`\n${printedVerdict(verdict, finished)}\n`);
  if (!finished) return code;
  process.stdout.write(`\n${nextSteps(folder, LOG_NAME)}\n`);
  return verdict.violations.length + verdict.faults.length === 0 ? exitCodes.done : exitCodes.fault;
}

function stopOnSignals(crawl: Crawl): () => void {
  let last = Number.NEGATIVE_INFINITY;
  const stop = (): void => {
    const now = performance.now();
    if (now - last < SAME_PRESS_MS) return;
    last = now;
    crawl.stop();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, stop);
  return () => {
    for (const signal of signals) process.off(signal, stop);
  };
}
