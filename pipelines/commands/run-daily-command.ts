// What is one call of npm run daily, from its flags to its report and exit code?
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../io/clock.ts";
import { textLog } from "../../io/log.ts";
import { memoryMetrics } from "../../io/metrics.ts";
import { systemRandom } from "../../io/random.ts";
import { openFileSpill } from "../../io/spill/file-spill.ts";
import type { Log } from "../../ports/log.ts";
import { SpillError } from "../../ports/spill.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import type { DailyServices } from "../../transforms/daily/services.ts";
import { documentsOf } from "../daily/clusters.ts";
import { type DailyOptions, type dailyFlags, readDailyOptions, templateOf } from "../daily/daily-options.ts";
import { dryStores } from "../daily/dry-run.ts";
import { type DailyRunner, embeddedRunner } from "../daily/embedded-runner.ts";
import type { DailyConfig } from "../daily/phase.ts";
import type { PortableRunner } from "../daily/portable-runner.ts";
import { type PhaseReport, runDaily } from "../daily/run-daily.ts";
import { dailyPhases } from "../daily.ts";
import type { EnginePlace } from "../engines/engine-place.ts";
import { exitCodes } from "../exit-codes.ts";
import { type DailyStores, openLocalDailyStores } from "../stores/daily-stores.ts";
import type { FlagValues } from "./command-line.ts";
import { stopOnSignals } from "./stop-signals.ts";
import { dayBefore } from "./utc-day.ts";

const clock = systemClock();

export async function runDailyCommand(values: FlagValues<typeof dailyFlags>): Promise<number> {
  const options = readDailyOptions(values, clock.now());
  const log = textLog((line) => process.stderr.write(`${line}\n`), "warn");
  const stores = await openStores(options, log);
  try {
    const { place, templates } = options;
    if (place === undefined || templates === undefined) return await run(options, stores, log);
    const services = { ...stores, clock, log, random: systemRandom(), metrics: memoryMetrics() };
    return await writeTemplates(
      await jobRunner(options, place, services),
      templates,
      await withExpected(options.config, stores),
    );
  } catch (error) {
    throw brokenDisk(error);
  } finally {
    await stores.close();
  }
}

async function openStores({ stores }: DailyOptions, log: Log): Promise<DailyStores> {
  const random = systemRandom();
  if ("folder" in stores) return openLocalDailyStores(stores.folder, random);
  // Loads Google's clients, which a data directory does without.
  const { openCloudDailyStores } = await import("../stores/cloud-daily-stores.ts");
  return openCloudDailyStores(stores.cloud, { clock, random, metrics: memoryMetrics(), log });
}

async function run(options: DailyOptions, stores: DailyStores, log: Log): Promise<number> {
  const { config, dryRun, again, json } = options;
  const would = new Map<string, number>();
  const used = dryRun ? dryStores(stores, (name, rows) => would.set(name, rows)) : stores;
  const services = { ...used, clock, log, random: systemRandom(), metrics: memoryMetrics() };
  const runner = await runnerOf(options, services, log);
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
  const phases = {
    phases: dailyPhases,
    config: await withExpected(config, stores),
    files: used.files,
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

/** With what the day before had. */
async function withExpected(config: DailyConfig, { files }: DailyStores): Promise<DailyConfig> {
  const documents = await documentsOf(files, dayBefore(config.day));
  return documents === undefined ? config : { ...config, documentsExpected: documents };
}

async function writeTemplates(runner: PortableRunner, folder: string, config: DailyConfig): Promise<number> {
  try {
    for (const phase of dailyPhases) {
      const template = templateOf(folder, phase.name);
      await runner.writeTemplate(phase, config, template);
      process.stdout.write(`${phase.name}: template ${template}\n`);
    }
    return exitCodes.done;
  } finally {
    await runner.close();
  }
}

async function runnerOf(options: DailyOptions, services: DailyServices, log: Log): Promise<DailyRunner> {
  const { stores, place } = options;
  if (place !== undefined) return jobRunner(options, place, services);
  // In the cloud the crawl has no disk of its own: what is spilled is of this machine.
  const parent = "cloud" in stores ? join(tmpdir(), "gleaner-daily") : join(stores.folder, "daily/.spill");
  return embeddedRunner({ services, openSpill: () => openFileSpill(parent, log), stream: process.stderr });
}

async function jobRunner({ stores }: DailyOptions, place: EnginePlace, services: DailyServices): Promise<PortableRunner> {
  const { portableRunner } = await import("../daily/portable-runner.ts");
  return portableRunner({ place, services, cloud: "cloud" in stores ? stores.cloud : undefined, stream: process.stderr });
}

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
