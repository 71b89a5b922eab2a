// What is one run of the daily pipeline? Its phases in their order, each left out where its tables are closed already, each told when it ends.
import type { DayFiles } from "../../ports/day-files.ts";
import { MANIFEST, type PartitionManifest, partitionManifest } from "../../schemas/daily/manifest.ts";
import { jsonFile } from "../../transforms/daily/json-file.ts";
import type { DailyConfig, DailyPhase } from "./phase.ts";

/** Carries out one phase on an engine. Rejects with what went wrong there. */
export type PhaseRunner = (phase: DailyPhase, config: DailyConfig) => Promise<"done" | "stopped">;

export interface DailyRun {
  phases: readonly DailyPhase[];
  config: DailyConfig;
  files: DayFiles;
  run: PhaseRunner;
  /** Phases whose tables are closed are done again. */
  again: boolean;
  now(): number;
  /** Told as soon as a phase has ended. */
  ended?(phase: PhaseReport): void;
}

export interface PhaseReport {
  phase: string;
  /** `before`: it was done by an earlier run. */
  state: "done" | "before" | "stopped";
  seconds: number;
  tables: ClosedTable[];
}

export type ClosedTable = Pick<PartitionManifest, "table" | "rows" | "bytes"> & { files: number };

/** The phases that were come to, the last one stopped where the run was. Rejects where a phase fails: those before it stand. */
export async function runDaily(daily: DailyRun): Promise<PhaseReport[]> {
  const reports: PhaseReport[] = [];
  for (const phase of daily.phases) {
    const report = await runPhase(daily, phase);
    reports.push(report);
    daily.ended?.(report);
    if (report.state === "stopped") break;
  }
  return reports;
}

async function runPhase({ config, files, run, again, now }: DailyRun, phase: DailyPhase): Promise<PhaseReport> {
  const { name } = phase;
  const standing = await closedTables(files, phase, config.day);
  if (!again && standing.length === phase.folders(config.day).length)
    return { phase: name, state: "before", seconds: 0, tables: standing };
  const began = now();
  const state = await run(phase, config);
  const tables = state === "done" ? await closedTables(files, phase, config.day) : [];
  return { phase: name, state, seconds: (now() - began) / 1000, tables };
}

async function closedTables(files: DayFiles, { folders }: DailyPhase, day: string): Promise<ClosedTable[]> {
  const manifests = await Promise.all(folders(day).map((folder) => readManifest(files, folder)));
  return manifests.flatMap((manifest) =>
    manifest === undefined
      ? []
      : [{ table: manifest.table, rows: manifest.rows, bytes: manifest.bytes, files: manifest.files.length }],
  );
}

/** Undefined where none stands, or what stands is none. */
async function readManifest(files: DayFiles, folder: string): Promise<PartitionManifest | undefined> {
  const manifest = await jsonFile(files, `${folder}/${MANIFEST}`);
  return partitionManifest.fault(manifest, MANIFEST) === undefined ? (manifest as PartitionManifest) : undefined;
}
