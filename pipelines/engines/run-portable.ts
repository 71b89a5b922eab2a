// What is one crawl on Prism, Flink or Dataflow, from its options to its exit code? Begun in the stores, submitted as a job, followed to its end.
import type { JobEnd } from "../../beam/portable/follow.ts";
import type { LastState } from "../../beam/portable/job-state.ts";
import { type PortableJob, submit } from "../../beam/portable/submit.ts";
import { textLog } from "../../io/log.ts";
import type { Log } from "../../ports/log.ts";
import { publishDiscoveries } from "../../transforms/fetch/publish.ts";
import { stopOnSignals } from "../commands/stop-signals.ts";
import { openWorker } from "../container/open-worker.ts";
import { exitCodes } from "../exit-codes.ts";
import { keepSweeping, sweepAll } from "../sweeps.ts";
import { type OpenedCrawl, openCrawl } from "../wiring.ts";
import { crawlWorker } from "../worker.ts";
import { engineJob, type PortableOptions } from "./engine-job.ts";
import type { EnginePlace } from "./engine-place.ts";
import { openWorkers } from "./open-workers.ts";
import { stagedPipeline } from "./staged-pipeline.ts";

/** The exit code of the command. Rejects with StoreError where the stores cannot be used, with RunnerError where the job is refused. */
export async function runPortable(options: PortableOptions, place: EnginePlace): Promise<number> {
  const log: Log = textLog((line) => process.stderr.write(`${line}\n`), options.verbose ? "debug" : "info");
  const opened = await openCrawl(options, log);
  try {
    await begin(opened, options);
    return await launched(options, place, opened);
  } finally {
    await opened.close();
  }
}

/** Messages for the workers, whenever they start: the seeds, and sweeps, which find what an earlier job left. */
async function begin(opened: OpenedCrawl, { seeds }: PortableOptions): Promise<void> {
  const services = crawlWorker({ ports: opened, config: opened.config, fetchers: 1, onBroken: () => {} });
  if (seeds.length > 0)
    await publishDiscoveries(services, { source: "seed", depth: 0, hops: 0, kind: "page", urls: [...seeds] });
  await sweepAll(opened, opened.config);
}

async function launched(options: PortableOptions, place: EnginePlace, opened: OpenedCrawl): Promise<number> {
  const { clock, config, log } = opened;
  const { endpoint, jobName } = place;
  const workers = await openWorkers(place, { startWorker: (given) => openWorker(given, { clock, log }), clock, log });
  try {
    const { environment } = workers;
    const job = await submit({ endpoint, jobName, clock, log, ...engineJob({ options, place, config, environment }) });
    try {
      if (place.engine === "dataflow" && place.dataflow.template !== undefined)
        return await written(job, place.dataflow.template, opened, options);
      return await followed(job, place, opened);
    } finally {
      job.leave();
    }
  } finally {
    await workers.stop();
  }
}

/** Flink's own little cluster answers to a cancel, and goes on all the same. */
const CANCEL_MS = 15_000;

async function followed(job: PortableJob, place: EnginePlace, opened: OpenedCrawl): Promise<number> {
  const { clock, config, log } = opened;
  const endSweeps = keepSweeping(opened, config);
  const left = Promise.withResolvers<"left" | "uncancelled">();
  let callOff = (): void => {};
  const cancel = (): void => {
    process.stderr.write(`\ngleaner: cancelling job ${job.id}; once more to leave it running\n`);
    job.cancel().catch((error) => log("error", "the job could not be cancelled", { error: String(error) }));
    callOff = clock.after(CANCEL_MS, () => left.resolve("uncancelled"));
  };
  const isOurs = place.engine !== "dataflow";
  // A job of the service outlives the terminal that it was launched from.
  const signals = stopOnSignals({ now: () => clock.now(), stop: isOurs ? cancel : () => left.resolve("left") });
  process.stderr.write(
    `gleaner: job ${job.id} runs at ${place.endpoint}; Ctrl-C ${isOurs ? "cancels it" : "leaves it running, without its sweeps"}\n`,
  );
  const end = await Promise.race([job.ended, left.promise]);
  callOff(); // else it keeps the process
  signals.end();
  endSweeps();
  return told(end, signals.stopped());
}

/** The job service has put the pipeline into the bucket, and says in the template where. */
async function written(job: PortableJob, template: string, opened: OpenedCrawl, options: PortableOptions): Promise<number> {
  const end = await job.ended;
  if (end.kind === "lost" || end.state !== "done") return told(end, false);
  const pipeline = await stagedPipeline(template, { ...opened, project: options.cloud.project });
  process.stdout.write(
    `template ${template}\npipeline ${pipeline ?? "where the template says, which is not on this machine"}\n`,
  );
  return exitCodes.done;
}

function told(end: JobEnd | "left" | "uncancelled", stopped: boolean): number {
  if (end === "left") {
    process.stderr.write("\ngleaner: the job goes on; docs/dataflow.md tells how it is drained, cancelled and kept swept\n");
    return exitCodes.interrupted;
  }
  if (end === "uncancelled") {
    process.stderr.write(
      `gleaner: the engine has not ended the job within ${CANCEL_MS / 1000} s of its cancelling; it may go on\n`,
    );
    return exitCodes.interrupted;
  }
  if (end.kind === "lost") {
    process.stderr.write(`gleaner: the job service does not answer any more, the job may go on: ${end.error.message}\n`);
    return exitCodes.fault;
  }
  process.stderr.write(`gleaner: the job has ended: ${end.state}\n`);
  if (stopped) return exitCodes.interrupted;
  for (const line of end.why) process.stderr.write(`gleaner: ${line.slice(0, WHY_CHARS)}\n`);
  return END_WELL.includes(end.state) ? exitCodes.done : exitCodes.fault;
}

/** Updated: another job has taken this one's place. */
const END_WELL: readonly LastState[] = ["done", "drained", "updated"];
const WHY_CHARS = 2_000; // of a runner's words: some send whole stack traces
