// What does a worker open when a runner starts it? For a crawl the cloud stores, the web, a parser, and the harness over all of them.
import { counters } from "../../beam/harness/counters.ts";
import { openLogPlane, teed } from "../../beam/harness/log-plane.ts";
import { startHarness } from "../../beam/harness/start-harness.ts";
import type { AnyDefinition } from "../../beam/pardo.ts";
import type { RunningWorker, WorkerArguments } from "../../beam/portable/worker-arguments.ts";
import { dofnRegistry } from "../../beam/registry.ts";
import { gunzip } from "../../io/gunzip.ts";
import { systemResolver } from "../../io/http/dns.ts";
import { memoryMetrics } from "../../io/metrics.ts";
import { systemRandom } from "../../io/random.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { queueDecoders } from "../../transforms/read-queues.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { crawlDefinitions } from "../crawl.ts";
import { repeat } from "../repeat.ts";
import { openCloudStores } from "../stores/cloud-stores.ts";
import type { CrawlStores } from "../stores/crawl-stores.ts";
import { crawlHttp, crawlParser, warcinfo } from "../wiring.ts";
import { crawlWorker, type WorkerPorts } from "../worker.ts";
import { endWith } from "./end-with.ts";
import { openDailyWorker } from "./open-daily-worker.ts";
import type { ContainerPorts } from "./run-container.ts";
import { type CrawlWorkerSettings, readWorkerSettings } from "./worker-settings.ts";

/** An order is obeyed within five times as long. */
const ORDERS = { everyMs: 2_000, failed: "orders about hosts cannot be read" };

/** What is logged in the worker goes to its runner as well, where that takes it. Rejects with StoreError where a store cannot be used. */
export async function openWorker(
  { loggingEndpoint, ...given }: WorkerArguments,
  ports: ContainerPorts,
): Promise<RunningWorker> {
  if (loggingEndpoint === undefined) return openJobWorker(given, ports);
  const { clock, log } = ports;
  const plane = openLogPlane({ endpoint: loggingEndpoint, workerId: given.id, clock });
  const failed = async (error: unknown): Promise<never> => {
    plane.log("error", "the worker failed", { error });
    throw error;
  };
  const close = async (): Promise<void> => {
    await plane.close();
    const { dropped } = plane;
    if (dropped > 0) log("warn", "lines have not reached the runner's log", { lines: dropped });
  };
  try {
    const { ended, stop } = await openJobWorker(given, { ...ports, log: teed(log, plane, "info") });
    return { ended: ended.catch(failed).finally(close), stop };
  } catch (error) {
    return failed(error).finally(close);
  }
}

function openJobWorker(given: WorkerArguments, ports: ContainerPorts): Promise<RunningWorker> {
  const settings = readWorkerSettings(given.options);
  return settings.job === "daily" ? openDailyWorker(given, settings, ports) : openCrawlWorker(given, settings, ports);
}

async function openCrawlWorker(
  given: WorkerArguments,
  settings: CrawlWorkerSettings,
  { clock, log, watchHealth }: ContainerPorts,
): Promise<RunningWorker> {
  const [random, counted] = [systemRandom(), counters(memoryMetrics())];
  const { metrics } = counted;
  const opening = (filename: string, at: number) => warcinfo(settings, random.token(), filename, at);
  const stores = await openCloudStores(settings.cloud, { clock, random, metrics, log, warcinfo: opening });
  const resolver = systemResolver({ clock });
  const parser = crawlParser(clock);
  const http = crawlHttp(settings, { clock, metrics, resolver });
  const ports: WorkerPorts = { ...stores, clock, random, metrics, log, gunzip, parser, http };
  const close = async (): Promise<void> => {
    await Promise.allSettled([http, parser, stores.archive, stores.documents, stores.events].map((port) => port.close()));
    resolver.close();
    await stores.close();
  };
  try {
    const config = await writtenConfig(stores, settings);
    const fail = Promise.withResolvers<never>();
    // It may fail before anybody waits for it.
    fail.promise.catch(() => {});
    const services = crawlWorker({ ports, config, fetchers: settings.fetchers, onBroken: fail.reject });
    const endOrders = await followOrders(services, stores);
    const harness = startHarness({
      ...{ ...given, registry: dofnRegistry<AnyDefinition>([...crawlDefinitions, ...queueDecoders]), services },
      ...{ clock, log, metrics, counters: counted },
      ...(settings.delayStepMs !== undefined && { delayStepMs: settings.delayStepMs }),
    });
    watchHealth?.({ harness, queues: stores.queues });
    return endWith(harness, fail.promise, async () => {
      endOrders();
      await close();
    });
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the launcher wrote when it began the job; or the next job, which this one's hosts must not be told of. */
async function writtenConfig({ meta }: CrawlStores, { cloud, epoch }: CrawlWorkerSettings): Promise<CrawlConfig> {
  const written = await meta.get("config");
  if (written === undefined) throw new StoreError(`the crawl ${cloud.crawl} has no configuration: start it first`);
  const config = JSON.parse(written) as CrawlConfig;
  return { ...config, epoch: epoch ?? config.epoch };
}

/** Nobody is asked before the orders are known; later ones hold from the next admit on. Returns a function that ends it. */
async function followOrders(services: CrawlServices, { orders }: CrawlStores): Promise<() => void> {
  const take = async (): Promise<void> => {
    const policies = await orders.changed();
    if (policies !== undefined) services.live.order(policies);
  };
  await take();
  return repeat(services, ORDERS, take);
}
