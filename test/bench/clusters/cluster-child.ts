// What does one run cost, stage by stage? So many synthetic documents by the real pipeline on the embedded engine, told as one line of JSON.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runBatch } from "../../../beam/batch/run-batch.ts";
import { keyed, type Start, start } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { buildBatch } from "../../../beam/pipeline.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { systemClock } from "../../../io/clock.ts";
import { openFileSpill } from "../../../io/spill/file-spill.ts";
import { type Codec, struct, uint } from "../../../schemas/codec.ts";
import { clusterDocument, clusterRow } from "../../../schemas/daily/clusters.ts";
import { clusterDofns, clusterSteps } from "../../../transforms/daily/clusters/cluster-steps.ts";
import { syntheticDocuments } from "./synthetic-documents.ts";

const PARTS = 64;
const part = struct({ part: uint, total: uint });

const parts = { parts: part };
const nameParts: DoFnDefinition<Start, typeof parts, { total: number }, unknown> = {
  ...{ form: "each", name: "NameParts", input: start, outputs: parts },
  make: ({ total }) => ({
    process(_start, context) {
      for (let number = 0; number < PARTS; number++) context.emit("parts", { part: number, total });
    },
  }),
};

const documents = { documents: keyed(clusterDocument) };
const makeUp: DoFnDefinition<{ part: number; total: number }, typeof documents, object, unknown> = {
  ...{ form: "each", name: "MakeUp", input: part, outputs: documents },
  make: () => ({
    process({ part: number, total }, context) {
      for (const document of syntheticDocuments(total, number, PARTS)) context.emit("documents", document);
    },
  }),
};

/** Takes what the pipeline gives, and keeps none of it. */
function taking<T>(name: string, input: Codec<T>, take: (element: T) => void) {
  const definition: DoFnDefinition<T, Record<never, never>, object, unknown> = {
    ...{ form: "each", name, input, outputs: {} },
    make: () => ({ process: take }),
  };
  return definition;
}

export interface ClusterCost {
  rows: number;
  /** Documents of the largest cluster. */
  largest: number;
  counts: Record<string, number>;
  stages: { label: string; elementsIn: number; bytes: number; spilledBytes: number; cpuMs: number }[];
}

/** Prints the ClusterCost. Rejects where the job fails. */
export async function clusterInThisProcess(total: number): Promise<void> {
  const told: ClusterCost = { rows: 0, largest: 0, counts: {}, stages: [] };
  const takeRow = taking("TakeRow", keyed(clusterRow), ({ value }) => {
    told.rows++;
    told.largest = Math.max(told.largest, value.size);
  });
  const takeCount = taking("TakeCount", keyed(uint), ({ key, value }) => {
    told.counts[key] = value;
  });
  const folder = mkdtempSync(join(tmpdir(), "bench-clusters-"));
  const cpu = cpuByStage();
  try {
    const job = runBatch({
      proto: buildBatch((p) => {
        const named = p.start("NameParts", nameParts, { total });
        const made = p.each("MakeUp", makeUp, {}, p.reshuffle("Parts", named.parts));
        const clusters = clusterSteps(p, made.documents, total);
        p.each("TakeRow", takeRow, {}, clusters.rows);
        p.each("TakeCount", takeCount, {}, clusters.counts);
      }),
      registry: dofnRegistry([nameParts, makeUp, takeRow, takeCount, ...clusterDofns]),
      services: undefined,
      clock: systemClock(),
      log: (level, message, fields) => {
        if (level !== "info") process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
        else if (message === "a stage begins") cpu.begin(String(fields?.stage));
      },
      metrics: { count: () => {}, gauge: () => {}, observe: () => {} },
      spill: openFileSpill(folder, () => {}),
    });
    const end = await job.done;
    cpu.begin("");
    if (end.state !== "done")
      throw new Error(`the job ended ${end.state}`, { cause: end.state === "failed" ? end.error : undefined });
    told.stages = job.progress().map((stage) => ({ ...stage, cpuMs: cpu.of(stage.label) }));
    process.stdout.write(`${JSON.stringify(told)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** CPU of the process from the beginning of a stage to that of the next. */
function cpuByStage() {
  const cpuMs = new Map<string, number>();
  let [running, before] = ["", process.cpuUsage()];
  return {
    of: (stage: string) => cpuMs.get(stage) ?? 0,
    begin(stage: string) {
      const { user, system } = process.cpuUsage(before);
      cpuMs.set(running, (user + system) / 1000);
      [running, before] = [stage, process.cpuUsage()];
    },
  };
}
