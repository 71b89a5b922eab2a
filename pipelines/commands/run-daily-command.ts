// What is one call of npm run daily, from its flags to its report and exit code?
import { join } from "node:path";
import type { ParseArgsOptionsConfig } from "node:util";
import { systemClock } from "../../io/clock.ts";
import { textLog } from "../../io/log.ts";
import { memoryMetrics } from "../../io/metrics.ts";
import { systemRandom } from "../../io/random.ts";
import { openFileSpill } from "../../io/spill/file-spill.ts";
import { SpillError } from "../../ports/spill.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { documentsOf } from "../daily/clusters.ts";
import { dryFiles, dryTables } from "../daily/dry-run.ts";
import { embeddedRunner } from "../daily/embedded-runner.ts";
import type { DailyConfig } from "../daily/phase.ts";
import { type JobPlace, portableRunner } from "../daily/portable-runner.ts";
import { type PhaseReport, runDaily } from "../daily/run-daily.ts";
import { dailyPhases } from "../daily.ts";
import { exitCodes } from "../exit-codes.ts";
import { type DailyStores, openLocalDailyStores } from "../stores/daily-stores.ts";
import { UsageError } from "../usage-error.ts";
import type { FlagValues } from "./command-line.ts";
import { stopOnSignals } from "./stop-signals.ts";
import { dayBefore, dayEnd, utcDay } from "./utc-day.ts";

export const dailyHelp = `Once a day is over: plans revisits from how pages change, moves their due times, and closes the day's tables for readers.

  npm run daily -- [--data DIR] [--date YYYY-MM-DD] [options]

  --data DIR            the data directory of the crawl, which may run meanwhile; default ./data
  --date YYYY-MM-DD     UTC; default yesterday. A day is taken once it is over
  --revisits-per-day N  of the whole crawl; the pages whose visit is worth most come first. Default: hosts alone bound them
  --dry-run             reads and judges, and tells what would be written; nothing is
  --again               also what is done already
  --engine E            embedded (default), prism or flink: the phases are jobs there, with their workers in this process
  --endpoint HOST:PORT  of the engine's job service
  --json                the report as one object on stdout
  -h, --help

Phases, in order: ${dailyPhases.map(({ name }) => name).join(", ")}. A phase is done once its tables' manifests stand below DIR/daily/dt=DATE/; a run that was
cut off is called again and goes on there, and comes to the same. Ctrl-C ends it cleanly.
Exit codes: ${exitCodes.done} done, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} data directory or disk cannot be used, ${exitCodes.interrupted} ended by Ctrl-C, ${exitCodes.fault} an error of ours.
`;

export const dailyFlags = {
  data: { type: "string" },
  date: { type: "string" },
  "revisits-per-day": { type: "string" },
  "dry-run": { type: "boolean" },
  again: { type: "boolean" },
  engine: { type: "string" },
  endpoint: { type: "string" },
  json: { type: "boolean" },
} as const satisfies ParseArgsOptionsConfig;

interface Asked {
  data: string;
  config: DailyConfig;
  dryRun: boolean;
  again: boolean;
  json: boolean;
  /** undefined: this process. */
  place: JobPlace | undefined;
}

const clock = systemClock();

export async function runDailyCommand(values: FlagValues<typeof dailyFlags>): Promise<number> {
  const asked = read(values);
  const stores = await openLocalDailyStores(asked.data, systemRandom());
  try {
    return await run(asked, stores);
  } catch (error) {
    throw brokenDisk(error);
  } finally {
    await stores.close();
  }
}

/** Throws UsageError. */
function read(values: FlagValues<typeof dailyFlags>): Asked {
  const day = utcDay("--date", values.date, clock.now());
  const asOf = dayEnd(day);
  if (asOf > clock.now()) throw new UsageError(`--date ${day} is not over yet, in UTC`);
  const perDay = values["revisits-per-day"];
  if (perDay !== undefined && !/^\d{1,15}$/.test(perDay))
    throw new UsageError(`--revisits-per-day ${JSON.stringify(perDay)} is not a whole number`);
  return {
    data: values.data ?? "./data",
    config: { day, asOf, ...(perDay === undefined ? {} : { revisitsPerDay: Number(perDay) }) },
    dryRun: values["dry-run"] ?? false,
    again: values.again ?? false,
    json: values.json ?? false,
    place: placeOf(values),
  };
}

function placeOf({ engine = "embedded", endpoint }: FlagValues<typeof dailyFlags>): JobPlace | undefined {
  if (engine === "embedded") {
    if (endpoint !== undefined) throw new UsageError("--endpoint is for --engine prism or flink");
    return undefined;
  }
  if (engine !== "prism" && engine !== "flink")
    throw new UsageError(`--engine ${JSON.stringify(engine)} is none of embedded, prism, flink`);
  if (!/^[^\s/:]+:\d{1,5}$/.test(endpoint ?? ""))
    throw new UsageError(
      `--engine ${engine} needs --endpoint HOST:PORT, its job service, not ${JSON.stringify(endpoint ?? "")}`,
    );
  return { engine, endpoint: endpoint! };
}

async function run({ data, config, dryRun, again, json, place }: Asked, stores: DailyStores): Promise<number> {
  const log = textLog((line) => process.stderr.write(`${line}\n`), "warn");
  const would = new Map<string, number>();
  const files = dryRun ? dryFiles(stores.files, (name, rows) => would.set(name, rows)) : stores.files;
  const tables = dryRun ? dryTables(stores.tables) : stores.tables;
  const services = { ...stores, clock, log, random: systemRandom(), metrics: memoryMetrics(), files, tables };
  const stream = process.stderr;
  const openSpill = () => openFileSpill(join(data, SPILL), log);
  const runner =
    place === undefined ? embeddedRunner({ services, openSpill, stream }) : await portableRunner({ place, services, stream });
  const signals = stopOnSignals({
    now: () => clock.now(),
    stop() {
      process.stderr.write("\ndaily: stopping; what is done stands, and the next call goes on there\n");
      runner.stop();
    },
  });
  const say = (text: string): void => void (json ? process.stderr : process.stdout).write(`${text}\n`);
  say(`${config.day} of ${stores.place}${dryRun ? ", nothing is written" : ""}`);
  const ended = (report: PhaseReport): void => {
    say(phaseLines(report));
    for (const [table, rows] of rowsByTable(would)) say(`  ${table}: ${counted(rows, "row")} would be written`);
    would.clear();
  };
  const documents = await documentsOf(stores.files, dayBefore(config.day));
  const known = documents === undefined ? config : { ...config, documentsExpected: documents };
  const phases = {
    phases: dailyPhases,
    config: known,
    files,
    run: runner.run,
    again: again || dryRun,
    now: () => clock.now(),
    ended,
  };
  const reports = await runDaily(phases).finally(() => {
    signals.end();
    return runner.close();
  });
  if (json) process.stdout.write(`${JSON.stringify({ day: config.day, dryRun, phases: reports })}\n`);
  return signals.stopped() ? exitCodes.interrupted : exitCodes.done;
}

const SPILL = "daily/.spill";

/** By the folder of their files, manifests and schemas aside. */
function rowsByTable(files: ReadonlyMap<string, number>): Map<string, number> {
  const rows = new Map<string, number>();
  for (const [name, count] of files) {
    if (name.endsWith(".json")) continue;
    const table = name.split("/").at(-2) ?? "";
    rows.set(table, (rows.get(table) ?? 0) + count);
  }
  return rows;
}

function phaseLines({ phase, state, seconds, tables }: PhaseReport): string {
  const how = { done: `done in ${seconds.toFixed(1)} s`, before: "done before", stopped: "stopped" }[state];
  const lines = tables.map(
    ({ table, rows, files, bytes }) =>
      `  ${table}: ${counted(rows, "row")}, ${counted(files, "file")}, ${counted(bytes, "byte")}`,
  );
  return [`${phase}: ${how}`, ...lines].join("\n");
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/** What the disk refuses a job is no error of ours. */
function brokenDisk(error: unknown): unknown {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof StoreError || each instanceof SpillError) return new StoreError(each.message, { cause: each.cause });
  return error;
}
