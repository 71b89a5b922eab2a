// What does a worker of the daily pipeline open when a runner starts it? The records and files of the crawl, and the harness over them.
import { counters } from "../../beam/harness/counters.ts";
import { startHarness } from "../../beam/harness/start-harness.ts";
import type { RunningWorker, WorkerArguments } from "../../beam/portable/worker-arguments.ts";
import { memoryMetrics } from "../../io/metrics.ts";
import { systemRandom } from "../../io/random.ts";
import type { DailyServices } from "../../transforms/daily/services.ts";
import { dailyRegistry } from "../daily.ts";
import { openCloudDailyStores } from "../stores/cloud-daily-stores.ts";
import { endWith } from "./end-with.ts";
import type { ContainerPorts } from "./run-container.ts";
import type { DailyWorkerSettings } from "./worker-settings.ts";

/** A store that fails fails the bundle, which its runner tries again. Rejects with StoreError. */
export async function openDailyWorker(
  given: WorkerArguments,
  { cloud }: DailyWorkerSettings,
  { clock, log, watchHealth }: ContainerPorts,
): Promise<RunningWorker> {
  const [random, counted] = [systemRandom(), counters(memoryMetrics())];
  const { metrics } = counted;
  const stores = await openCloudDailyStores(cloud, { clock, random, metrics, log });
  const services: DailyServices = { ...stores, clock, random, metrics, log };
  const harness = startHarness({ ...given, registry: dailyRegistry(), services, clock, log, metrics, counters: counted });
  watchHealth?.({ harness, queues: {} });
  return endWith(harness, NEVER, () => stores.close());
}

const NEVER = new Promise<never>(() => {});
