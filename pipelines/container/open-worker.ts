// What does a worker of a crawl open when a runner starts it? The cloud stores, the web, a parser, and the harness over all of them.
import { counters } from "../../beam/harness/counters.ts";
import { type Harness, startHarness } from "../../beam/harness/start-harness.ts";
import type { AnyDefinition } from "../../beam/pardo.ts";
import type { RunningWorker, WorkerArguments } from "../../beam/portable/worker-arguments.ts";
import { dofnRegistry } from "../../beam/registry.ts";
import { compileConnectTo } from "../../core/url/connect-to.ts";
import { warcinfoRecord } from "../../core/warc/warcinfo.ts";
import { gunzip } from "../../io/gunzip.ts";
import { systemResolver } from "../../io/http/dns.ts";
import { undiciHttp } from "../../io/http/undici-http.ts";
import { memoryMetrics } from "../../io/metrics.ts";
import { workerParser } from "../../io/parsing/pool.ts";
import { systemRandom } from "../../io/random.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { crawlDefinitions } from "../crawl.ts";
import { VERSION } from "../options.ts";
import { openCloudStores } from "../stores/cloud-stores.ts";
import type { CrawlStores } from "../stores/crawl-stores.ts";
import { crawlWorker, type WorkerPorts } from "../worker.ts";
import type { ContainerPorts } from "./run-container.ts";
import { readWorkerSettings, type WorkerSettings } from "./worker-settings.ts";

/** Pages that wait for a parser before they are put off. */
const PARSE_QUEUE = 256;
/** Beside the worker's own thread. */
const PARSER_WORKERS = 1;
/** An order is obeyed within five times as long. */
const ORDERS_MS = 2_000;

/** Rejects with StoreError where a store cannot be used. */
export async function openWorker(given: WorkerArguments, { clock, log }: ContainerPorts): Promise<RunningWorker> {
  const settings = readWorkerSettings(given.options);
  const [random, counted] = [systemRandom(), counters(memoryMetrics())];
  const { metrics } = counted;
  const warcinfo = (filename: string, at: number) => warcinfoOf(settings, random.token(), filename, at);
  const stores = await openCloudStores(settings.cloud, { clock, random, metrics, log, warcinfo });
  const resolver = systemResolver({ clock });
  const parser = workerParser({
    ...{ workers: PARSER_WORKERS, queueMax: PARSE_QUEUE, clock },
    ...{ timeMs: limits.parseMs, memoryMb: limits.parserMemoryMb },
  });
  const http = webOf(settings, { clock, metrics, resolver });
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
      ...{ ...given, registry: dofnRegistry<AnyDefinition>(crawlDefinitions), services },
      ...{ clock, log, metrics, counters: counted },
    });
    return running(harness, fail.promise, async () => {
      endOrders();
      await close();
    });
  } catch (error) {
    await close();
    throw error;
  }
}

/** Fails when a store is broken, with its error; closes what was opened in each case. */
function running(harness: Harness, broken: Promise<never>, close: () => Promise<void>): RunningWorker {
  const ended = Promise.race([harness.ended, broken]).finally(async () => {
    await harness.stop();
    await close();
  });
  return { ended, stop: () => harness.stop() };
}

/** What the launcher wrote when it began the job. */
async function writtenConfig({ meta }: CrawlStores, { cloud }: WorkerSettings): Promise<CrawlConfig> {
  const written = await meta.get("config");
  if (written === undefined) throw new StoreError(`the crawl ${cloud.crawl} has no configuration: start it first`);
  return JSON.parse(written) as CrawlConfig;
}

/** Nobody is asked before the orders are known; later ones hold from the next admit on. Returns a function that ends it. */
async function followOrders({ clock, live, log }: CrawlServices, { orders }: CrawlStores): Promise<() => void> {
  const take = async (): Promise<void> => {
    const policies = await orders.changed();
    if (policies !== undefined) live.order(policies);
  };
  await take();
  let ended = false;
  let callOff = clock.after(ORDERS_MS, again);
  function again(): void {
    void take()
      .catch((error) => log("error", "orders about hosts cannot be read", { error: String(error) }))
      .finally(() => {
        if (!ended) callOff = clock.after(ORDERS_MS, again);
      });
  }
  return () => {
    ended = true;
    callOff();
  };
}

type WebPorts = Pick<Parameters<typeof undiciHttp>[0], "clock" | "metrics" | "resolver">;

function webOf({ allow, connectTo, contact, fetchers }: WorkerSettings, ports: WebPorts) {
  const places = compileConnectTo(connectTo);
  const refuse = (address: string) => (isLoopback(address) ? undefined : "no --contact was given");
  return undiciHttp({
    ...{ ...ports, allow, fetchers, connectTo: (host, port) => places.target(host, port) },
    // Without a contact nobody but ourselves is asked.
    ...(contact === undefined ? { refuse } : {}),
  });
}

function isLoopback(address: string): boolean {
  return /^127\./.test(address) || address === "::1" || /^::ffff:127\./i.test(address);
}

function warcinfoOf({ userAgent, contact }: WorkerSettings, id: string, filename: string, at: number): Uint8Array[] {
  return warcinfoRecord({
    ...{ id, at, filename, software: `Gleaner/${VERSION}`, userAgent, robots: "obey" },
    ...(contact === undefined ? {} : { contact }),
  });
}
