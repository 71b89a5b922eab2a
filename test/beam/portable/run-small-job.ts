// What do the tests on each runner do alike? They run the small job with one kind of workers, until it has told all or has failed.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Environment, withEnvironment } from "../../../beam/portable/environment.ts";
import type { JobEnd } from "../../../beam/portable/follow.ts";
import type { PipelineOptions } from "../../../beam/portable/options.ts";
import { type PortableJob, submit } from "../../../beam/portable/submit.ts";
import { startWorkerPool, type WorkerPool } from "../../../beam/portable/worker-pool.ts";
import type { PipelineProto } from "../../../beam/sdk.ts";
import { systemClock } from "../../../io/clock.ts";
import { harnessOf, smallJob, whole } from "./small-job.ts";

const TELL_MS_MAX = 60_000;
const LOOK_EVERY_MS = 50;

export interface SmallJobRun {
  job: PortableJob;
  /** What it has told so far. */
  told: () => string[];
  /** Undefined while it runs. */
  ended: () => JobEnd | undefined;
}

interface Runner {
  endpoint: string;
  options?: PipelineOptions;
}

/** With workers in this process. `onTold` is called there with each line, and fails its bundle where it throws. */
export async function runInPool(
  context: TestContext,
  runner: Runner,
  onTold: (line: string) => void = () => {},
): Promise<SmallJobRun & { pool: WorkerPool }> {
  const told: string[] = [];
  const { proto, definitions } = smallJob((line) => {
    onTold(line);
    told.push(line);
  });
  const pool = await startWorkerPool({ startWorker: harnessOf(definitions, quiet), clock: systemClock(), log: quiet });
  context.after(() => pool.stop());
  const run = await launch(context, { ...runner, proto, environment: { kind: "external", endpoint: pool.endpoint } });
  return { ...run, pool, told: () => [...told] };
}

/** With workers that the runner starts as processes. */
export async function runInProcess(context: TestContext, runner: Runner): Promise<SmallJobRun> {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-process-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "told");
  const command = join(folder, "worker");
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, "worker-main.ts")}' "$@"\n`);
  chmodSync(command, 0o755);
  const { proto } = smallJob(() => undefined);
  const run = await launch(context, {
    ...runner,
    proto,
    environment: { kind: "process", command, env: { SMALL_JOB_FILE: file } },
  });
  return { ...run, told: () => (existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []) };
}

/** Each key's whole count. */
export function untilWhole(run: SmallJobRun): Promise<void> {
  return untilTold(run, (told) => whole.every((line) => told.includes(line)));
}

/** Fails with how the job ended, where it ends before it has told what is wanted. */
export async function untilTold({ told, ended }: SmallJobRun, wanted: (told: readonly string[]) => boolean): Promise<void> {
  const until = Date.now() + TELL_MS_MAX;
  while (!wanted(told())) {
    assert.equal(ended(), undefined);
    assert.ok(Date.now() < until, `told within ${TELL_MS_MAX / 1000} s: ${told().join(", ") || "nothing"}`);
    await pause(LOOK_EVERY_MS);
  }
}

interface Launch extends Runner {
  proto: PipelineProto;
  environment: Environment;
}

async function launch(context: TestContext, { endpoint, options = {}, proto, environment }: Launch) {
  const job = await submit({
    ...{ endpoint, jobName: "small-job", options: { ...options, smallJob: "told" }, clock: systemClock(), log: quiet },
    proto: withEnvironment(proto, environment),
  });
  context.after(() => job.leave());
  let end: JobEnd | undefined;
  void job.ended.then((how) => {
    end = how;
  });
  return { job, ended: () => end };
}

function quiet(): void {}
