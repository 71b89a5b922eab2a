// How is one case measured? In the process of the workers: the job is submitted, leases are counted for its seconds, then it is cancelled.
import { type Harness, startHarness } from "../../../beam/harness/start-harness.ts";
import { withEnvironment } from "../../../beam/portable/environment.ts";
import { submit } from "../../../beam/portable/submit.ts";
import { startWorkerPool } from "../../../beam/portable/worker-pool.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { systemClock } from "../../../io/clock.ts";
import { textLog } from "../../../io/log.ts";
import { memoryMetrics } from "../../../io/metrics.ts";
import { sleep } from "../../../ports/clock.ts";
import { say } from "../capacity/given.ts";
import { type EngineCase, type Figures, runnerOptions } from "./cases.ts";
import { frontierWork } from "./frontier-work.ts";
import { type Leases, ratesOf } from "./leases.ts";
import { timerWork } from "./timer-work.ts";

const clock = systemClock();
const LOOK_MS = 200;
/** From the job's submission until there have been as many leases as hosts: a JVM on a busy machine takes a minute. */
const ROUND_MS_MAX = 90_000;
/** What is under way at the end. */
const AFTER_MS = 1_000;

/** Prints Figures as JSON. */
export async function measureCase(given: EngineCase): Promise<void> {
  const { runner, endpoint, stateDelayMs } = given;
  const work = given.work === "timers" ? timerWork(given) : await frontierWork(given, clock);
  const harnesses: Harness[] = [];
  const log = textLog((line) => process.stderr.write(`${line}\n`), "error");
  const pool = await startWorkerPool({
    startWorker: ({ id, controlEndpoint }) => {
      const harness = startHarness({
        ...{ id, controlEndpoint, registry: dofnRegistry(work.definitions), services: work.services, stateDelayMs },
        ...{ clock, log, metrics: memoryMetrics(), delayStepMs: runner === "flink" ? 1000 : 50 },
      });
      harnesses.push(harness);
      return harness;
    },
    ...{ clock, log },
  });
  const before = process.cpuUsage();
  const proto = withEnvironment(work.proto, { kind: "external", endpoint: pool.endpoint });
  const job = await submit({ endpoint, proto, jobName: "bench", options: runnerOptions(runner), clock, log });
  const failed = job.ended.then((end) => {
    throw new Error(`the job has ended: ${JSON.stringify(end)}`);
  });
  failed.catch(() => {});
  const requests = () => harnesses.reduce((sum, harness) => sum + harness.health().stateRequests, 0);
  const requestsPerLease = await Promise.race([counted(work.seen, given, requests), failed]);
  const { user, system } = process.cpuUsage(before);
  const leases = work.seen.late.length;
  const figures: Figures = { leases, requestsPerLease, cpuMicros: (user + system) / leases, ...ratesOf(work.seen) };
  say(JSON.stringify(figures));
  await job.cancel().catch(() => {}); // its runner goes in any case
  process.exit();
}

/** Waits for a round of all hosts, then for the case's seconds; gives the state requests a lease of the latter. */
async function counted(seen: Leases, { hosts, seconds }: EngineCase, requests: () => number): Promise<number> {
  for (let waited = 0; seen.late.length < hosts; waited += LOOK_MS) {
    if (waited >= ROUND_MS_MAX) throw new Error(`${seen.late.length} leases in ${ROUND_MS_MAX / 1000} s`);
    await sleep(clock, LOOK_MS);
  }
  const from = { leases: seen.late.length, requests: requests() };
  seen.until = clock.now() + seconds * 1000;
  await sleep(clock, seconds * 1000);
  const requestsPerLease = (requests() - from.requests) / (seen.late.length - from.leases);
  await sleep(clock, AFTER_MS);
  return requestsPerLease;
}
