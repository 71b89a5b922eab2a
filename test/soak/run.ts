// npm run soak: a crawl of a web without end with hostile hosts mixed in, for half an hour; is it polite, and does its memory stay flat?
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { type SoakCrawl, startSoakCrawl } from "./crawl.ts";
import { progress, table } from "./say.ts";
import { isShort, soakFaults } from "./verdict.ts";
import { type SoakWeb, startSoakWeb } from "./web.ts";

const help = `A crawl of a web without end, with hostile hosts and traps mixed in; what it did is judged by the web.

  npm run soak [-- --minutes N] [--hosts N]

  --minutes N  how long from the first request on, default 30; what the crawl met is judged from two minutes on, memory from ten
  --hosts N    large honest hosts, default 20; the others are always the same

Exit codes: ${exitCodes.done} all holds, ${exitCodes.fault} something does not, ${exitCodes.badUsage} bad usage, ${exitCodes.interrupted} interrupted.
`;

const DELAY_MS = 250;
const PROGRESS_MS = 30_000;
const REQUEST_MS = 10_000;
const REQUEST_MS_MIN = 1000;
const START_MS = 60_000; // for the first request, on a busy machine
const MINUTES_MAX = 24 * 60;
const HOSTS_MAX = 1000;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = parsed(args);
  if (typeof asked === "number") return asked;
  const folder = await mkdtemp(join(tmpdir(), "gleaner-soak-"));
  const web = await startSoakWeb({ hosts: asked.hosts, delayMs: DELAY_MS });
  try {
    return await soaked(web, folder, asked.minutes);
  } finally {
    await web.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Asked {
  minutes: number;
  hosts: number;
}

function parsed(args: readonly string[]): Asked | number {
  try {
    const options = { minutes: { type: "string" }, hosts: { type: "string" }, help: { type: "boolean", short: "h" } } as const;
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false, strict: true });
    if (values.help) {
      process.stdout.write(help);
      return exitCodes.done;
    }
    const [minutes, hosts] = [Number(values.minutes ?? 30), Number(values.hosts ?? 20)];
    if (!(minutes > 0 && minutes <= MINUTES_MAX)) return complained(`--minutes is a number up to ${MINUTES_MAX}`);
    if (!Number.isInteger(hosts) || hosts < 1 || hosts > HOSTS_MAX)
      return complained(`--hosts is a number of 1 to ${HOSTS_MAX}`);
    return { minutes, hosts };
  } catch (error) {
    return complained(String((error as Error).message).split(/[.\n]/, 1)[0]!);
  }
}

function complained(line: string): number {
  process.stderr.write(`soak: ${line}\n`);
  return exitCodes.badUsage;
}

async function soaked(web: SoakWeb, folder: string, minutes: number): Promise<number> {
  const ms = minutes * 60_000;
  const crawl = startSoakCrawl(web, { folder, delayMs: DELAY_MS, requestMs: requestTime(ms) });
  await Promise.race([web.asked, crawl.ended, sleep(START_MS, undefined, { ref: false })]);
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  const told = setInterval(() => {
    process.stderr.write(`${progress(seconds(), web.judge.judgement(), crawl.samples.at(-1) ?? 0)}\n`);
  }, PROGRESS_MS);
  let earlier: ReadonlyMap<string, number> = new Map();
  const lastQuarter = setTimeout(() => {
    earlier = new Map(web.judge.judgement().kinds);
  }, 0.75 * ms);
  const interrupted = await timeOver(crawl, ms);
  clearTimeout(lastQuarter);
  clearInterval(told);
  const lasted = seconds();
  crawl.stop();
  const end = await crawl.ended;
  const { kinds, steadyKinds } = web;
  const result = { judgement: web.judge.judgement(), crawl, end, kinds, steadyKinds, earlier };
  const faults = soakFaults(result);
  process.stdout.write(`${table(result, lasted)}\n\n`);
  process.stdout.write(
    faults.length === 0
      ? `All holds${isShort(crawl) ? ", as far as so short a time tells" : ""}.\n`
      : `Not all holds:\n${faults.join("\n")}\n`,
  );
  if (interrupted) return exitCodes.interrupted;
  return faults.length === 0 ? exitCodes.done : exitCodes.fault;
}

/** A third of the default, so that stalls and trickles end thrice as often; of a short run a quarter, so that it ends when it should. */
function requestTime(ms: number): number {
  return Math.round(Math.min(REQUEST_MS, Math.max(REQUEST_MS_MIN, ms / 4)));
}

/** Resolves when the time is over, the crawl has ended by itself, or a signal came; true for a signal. */
async function timeOver(crawl: SoakCrawl, ms: number): Promise<boolean> {
  const ending = new AbortController();
  const { signal } = ending;
  const signals = ["SIGINT", "SIGTERM"] as const;
  let interrupt: () => void = () => {};
  const pressed = new Promise<boolean>((resolve) => {
    interrupt = () => resolve(true);
  });
  for (const name of signals) process.on(name, interrupt);
  const waited = sleep(ms, false, { signal }).catch(() => false);
  const result = await Promise.race([waited, pressed, crawl.ended.then(() => false)]);
  ending.abort();
  for (const name of signals) process.off(name, interrupt);
  return result;
}
