// What is one crawl on Prism or Flink, from its options to its exit code? Begun in the stores, submitted as a job, followed, cancelled by Ctrl-C.
import { type Environment, withEnvironment } from "../../beam/portable/environment.ts";
import type { JobEnd } from "../../beam/portable/follow.ts";
import { flinkOptions } from "../../beam/portable/options.ts";
import { submit } from "../../beam/portable/submit.ts";
import { startWorkerPool } from "../../beam/portable/worker-pool.ts";
import { textLog } from "../../io/log.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { encode } from "../../schemas/codec.ts";
import { limits } from "../../schemas/limits.ts";
import { hostQueueMessage } from "../../schemas/messages.ts";
import { publishDiscoveries } from "../../transforms/fetch/publish.ts";
import { stopOnSignals } from "../commands/stop-signals.ts";
import { openWorker } from "../container/open-worker.ts";
import { workerOptions } from "../container/worker-settings.ts";
import { crawlPipeline } from "../crawl.ts";
import { exitCodes } from "../exit-codes.ts";
import type { CrawlOptions } from "../options.ts";
import { type OpenedCrawl, openCrawl } from "../wiring.ts";
import { crawlWorker } from "../worker.ts";
import type { EnginePlace } from "./engine-place.ts";

export type PortableOptions = CrawlOptions & Required<Pick<CrawlOptions, "cloud">>;

/** The exit code of the command. Rejects with StoreError where the stores cannot be used, with RunnerError where the job is refused. */
export async function runPortable(options: PortableOptions, place: EnginePlace): Promise<number> {
  const log: Log = textLog((line) => process.stderr.write(`${line}\n`), options.verbose ? "debug" : "info");
  const opened = await openCrawl(options, log);
  try {
    await publishSeeds(opened, options);
    return await followed(options, place, opened);
  } finally {
    await opened.close();
  }
}

/** The launcher only publishes: messages are for the workers. */
async function publishSeeds(opened: OpenedCrawl, { seeds }: PortableOptions): Promise<void> {
  const services = crawlWorker({ ports: opened, config: opened.config, fetchers: 1, onBroken: () => {} });
  if (seeds.length > 0)
    await publishDiscoveries(services, { source: "seed", depth: 0, hops: 0, kind: "page", urls: [...seeds] });
}

async function followed(options: PortableOptions, place: EnginePlace, opened: OpenedCrawl): Promise<number> {
  const { clock, config, log } = opened;
  const workers = await openWorkers(place, clock, log);
  try {
    const job = await submit({
      ...{ endpoint: place.endpoint, jobName: place.jobName, clock, log },
      proto: withEnvironment(crawlPipeline(config), workers.environment),
      options: { ...(place.engine === "flink" ? flinkOptions() : {}), ...workerOptions(options) },
    });
    const endSweeps = sweepAgainAndAgain(opened);
    const givenUp = Promise.withResolvers<"left">();
    const signals = stopOnSignals({
      now: () => clock.now(),
      stop() {
        process.stderr.write(`\ngleaner: cancelling job ${job.id}; once more to leave it running\n`);
        job.cancel().catch((error) => log("error", "the job could not be cancelled", { error: String(error) }));
        clock.after(CANCEL_MS, () => givenUp.resolve("left"));
      },
    });
    process.stderr.write(`gleaner: job ${job.id} runs at ${place.endpoint}; Ctrl-C cancels it\n`);
    const end = await Promise.race([job.ended, givenUp.promise]);
    signals.end();
    endSweeps();
    job.leave();
    return told(end, signals.stopped());
  } finally {
    await workers.stop();
  }
}

interface Workers {
  environment: Environment;
  stop(): Promise<void>;
}

async function openWorkers({ workerCommand }: EnginePlace, clock: Clock, log: Log): Promise<Workers> {
  if (workerCommand !== undefined) return { environment: { kind: "process", command: workerCommand }, stop: async () => {} };
  const pool = await startWorkerPool({ startWorker: (given) => openWorker(given, { clock, log }), clock, log });
  return { environment: { kind: "external", endpoint: pool.endpoint }, stop: () => pool.stop() };
}

/** Finds what a lost wake, timer or job has left; now and every few minutes. Returns a function that ends it. */
function sweepAgainAndAgain({ clock, config, log, queues }: OpenedCrawl): () => void {
  const bodies = Array.from({ length: config.sweepShards }, (_, shard) => encode(hostQueueMessage, { kind: "sweep", shard }));
  let callOff: () => void = () => {};
  let ended = false;
  const sweep = (): void => {
    void queues.host
      .publish(bodies)
      .catch((error) => log("error", "a sweep could not be asked for", { error: String(error) }))
      .finally(() => {
        if (!ended) callOff = clock.after(limits.sweepMs, sweep);
      });
  };
  sweep();
  return () => {
    ended = true;
    callOff();
  };
}

/** Flink's own little cluster answers to a cancel, and goes on all the same. */
const CANCEL_MS = 15_000;

function told(end: JobEnd | "left", stopped: boolean): number {
  if (end === "left") {
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
  return end.state === "done" || end.state === "drained" ? exitCodes.done : exitCodes.fault;
}

const WHY_CHARS = 2_000; // of a runner's words: some send whole stack traces
