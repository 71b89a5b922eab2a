// What is one call of npm run daily asked for? Its flags, each checked, with what is allowed where one is not.
import type { ParseArgsOptionsConfig } from "node:util";
import type { FlagValues } from "../commands/command-line.ts";
import { dayEnd, utcDay } from "../commands/utc-day.ts";
import { dailyPhases } from "../daily.ts";
import { type EnginePlace, engineFlags, enginePlace } from "../engines/engine-place.ts";
import { exitCodes } from "../exit-codes.ts";
import { type CloudPlace, cloudFlags, storesPlace } from "../stores/cloud-place.ts";
import { UsageError } from "../usage-error.ts";
import type { DailyConfig } from "./phase.ts";

export interface DailyOptions {
  /** Where the crawl's records and files are: a folder, or Google Cloud. */
  stores: { folder: string } | { cloud: CloudPlace };
  config: DailyConfig;
  dryRun: boolean;
  again: boolean;
  json: boolean;
  /** Undefined: this process. */
  place: EnginePlace | undefined;
  /** Where Dataflow's templates are written, one a phase: a folder, or gs://BUCKET/FOLDER. Undefined: the jobs run. */
  templates: string | undefined;
}

export const dailyHelp = `Once a day is over: plans revisits from how pages change, moves their due times, and closes the day's tables for readers.

  npm run daily -- [--data DIR | --stores cloud --project P] [--date YYYY-MM-DD] [options]

  --data DIR            the data directory of the crawl, which may run meanwhile; default ./data
  --stores local|cloud  a data directory (default), or what npm run set-up made
  --project P, --instance I, --bucket B, --crawl NAME, --app-profile A   of cloud stores, as npm run set-up -- --help tells
  --date YYYY-MM-DD     UTC; default yesterday. A day is taken once it is over
  --revisits-per-day N  of the whole crawl; the pages whose visit is worth most come first. Default: hosts alone bound them
  --dry-run             reads and judges, and tells what would be written; nothing is
  --again               also what is done already
  --engine E            embedded (default), prism, flink or dataflow: there each phase is a job
  --endpoint HOST:PORT  of the engine's job service
  --worker-command PATH for prism or flink, with cloud stores: the program that runs a worker on the engine's machines; default: in this process
  --image IMAGE --region R [--service-account A] [--subnetwork S] [--public-ips true|false] [--machine-type M] [--workers N] [--max-workers N]
                        for dataflow, as npm run crawl -- --help tells
  --template FOLDER     for dataflow: each phase's job is written down there (a folder, or gs://BUCKET/FOLDER), and none is started
  --json                the report as one object on stdout
  -h, --help

Phases, in order: ${dailyPhases.map(({ name }) => name).join(", ")}. A phase is done once its tables' manifests stand below daily/dt=DATE/; a run that was
cut off is called again and goes on there, and comes to the same. Ctrl-C ends it cleanly.
Exit codes: ${exitCodes.done} done, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} stores or disk cannot be used, ${exitCodes.interrupted} ended by Ctrl-C, ${exitCodes.fault} an error of ours.
`;

const { "job-name": _named, update: _replaced, ...dailyEngineFlags } = engineFlags;

export const dailyFlags = {
  data: { type: "string" },
  stores: { type: "string" },
  ...cloudFlags,
  date: { type: "string" },
  "revisits-per-day": { type: "string" },
  "dry-run": { type: "boolean" },
  again: { type: "boolean" },
  ...dailyEngineFlags,
  json: { type: "boolean" },
} as const satisfies ParseArgsOptionsConfig;

type DailyValues = FlagValues<typeof dailyFlags>;

/** `now`: Unix ms, by which a day is over. Throws UsageError. */
export function readDailyOptions(values: DailyValues, now: number): DailyOptions {
  const day = utcDay("--date", values.date, now);
  const asOf = dayEnd(day);
  if (asOf > now) throw new UsageError(`--date ${day} is not over yet, in UTC`);
  const perDay = values["revisits-per-day"];
  if (perDay !== undefined && !/^\d{1,15}$/.test(perDay))
    throw new UsageError(`--revisits-per-day ${JSON.stringify(perDay)} is not a whole number`);
  const stores = storesOf(values);
  const place = placeOf(values, stores);
  const dryRun = values["dry-run"] ?? false;
  if (dryRun && (place?.engine === "dataflow" || values["worker-command"] !== undefined))
    throw new UsageError("--dry-run needs its workers in this process: what they would write is counted here");
  return {
    stores,
    config: { day, asOf, ...(perDay === undefined ? {} : { revisitsPerDay: Number(perDay) }) },
    dryRun,
    again: values.again ?? false,
    json: values.json ?? false,
    place,
    templates: values.template,
  };
}

function storesOf({ stores = "local", data, ...values }: DailyValues): DailyOptions["stores"] {
  if (stores !== "local" && stores !== "cloud")
    throw new UsageError(`--stores ${JSON.stringify(stores)} is neither local nor cloud`);
  const cloud = storesPlace(stores === "cloud", values, { data });
  return cloud === undefined ? { folder: data ?? "./data" } : { cloud };
}

function placeOf(values: DailyValues, stores: DailyOptions["stores"]): EnginePlace | undefined {
  const { template, ...others } = values;
  // Templates are one a phase: by the first of them the folder is judged.
  const asked = template === undefined ? others : { ...others, template: templateOf(template, dailyPhases[0]!.name) };
  const inCloud = "cloud" in stores;
  return enginePlace(asked, { name: inCloud ? `daily-${stores.cloud.crawl}` : "daily", inCloud, sharesStores: true });
}

/** Where the job of a phase is written down. */
export function templateOf(folder: string, phase: string): string {
  return `${folder.replace(/\/+$/, "")}/${phase}.json`;
}
