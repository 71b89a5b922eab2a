// What does a day of a crawl cost, service by service? What it moves, keeps and runs, times the price list.
import { assumed, measured } from "./figures.ts";
import { type Choices, type Fetch, fetchOf, type Objects, objectsOf } from "./flows.ts";
import { dayOfKeeping } from "./keeping.ts";
import type { Plan } from "./plan.ts";
import type { Prices } from "./prices.ts";
import { DAY_HOURS, gib, tib } from "./units.ts";

export const services = [
  "Bigtable: nodes",
  "Bigtable: storage",
  "Dataflow: workers",
  "Dataflow: Streaming Engine",
  "Dataflow: the daily job",
  "Pub/Sub: queues",
  "Pub/Sub: events into BigQuery",
  "Pub/Sub: events into the bucket",
  "Cloud Storage: calls",
  "Cloud Storage: pages kept",
  "Cloud Storage: documents kept",
  "Cloud Storage: indexes kept",
  "Cloud Storage: events kept",
  "BigQuery: storage and queries",
  "Network: NAT and addresses",
  "Network: sent to the internet",
] as const;
export type Service = (typeof services)[number];

/** US dollars a day. */
export type Bill = Readonly<Record<Service, number>>;

export function billOf(plan: Plan, prices: Prices, choices: Choices): Bill {
  const nodes = plan.nodes[choices.running];
  const workers = plan.workers[choices.running];
  const fetch = fetchOf(choices);
  const objects = objectsOf(plan.fetchesPerDay, workers, choices);
  const running: Running = { fetches: plan.fetchesPerDay, plan, workers, fetch, objects, prices, choices };
  const kept = dayOfKeeping(running);
  return {
    "Bigtable: nodes": nodes * DAY_HOURS * prices.bigtableNodeHour,
    "Bigtable: storage": kept.records,
    "Dataflow: workers": workerDay(running),
    "Dataflow: Streaming Engine": choices.streamingEngine
      ? gib(plan.fetchesPerDay * fetch.engine) * prices.dataflowStreamingEngineData
      : 0,
    "Dataflow: the daily job": dailyJob(running),
    "Pub/Sub: queues": tib(plan.fetchesPerDay * (fetch.queuePublished + fetch.queueDelivered)) * prices.pubsubThroughput,
    "Pub/Sub: events into BigQuery":
      tib(plan.fetchesPerDay * fetch.eventsPublished) * prices.pubsubThroughput +
      tib(plan.fetchesPerDay * fetch.eventsDelivered) * prices.pubsubBigquerySubscription,
    "Pub/Sub: events into the bucket": tib(plan.fetchesPerDay * fetch.eventsDelivered) * prices.pubsubStorageSubscription,
    "Cloud Storage: calls": (objects.classA * prices.storageClassA + objects.classB * prices.storageClassB) / 1_000,
    "Cloud Storage: pages kept": kept.pages,
    "Cloud Storage: documents kept": kept.documents,
    "Cloud Storage: indexes kept": kept.indexes,
    "Cloud Storage: events kept": kept.eventFiles,
    "BigQuery: storage and queries": kept.eventRows + queries(running),
    "Network: NAT and addresses": choices.addressPerWorker
      ? workers * DAY_HOURS * prices.workerAddressHour
      : natDay(workers, plan.addresses, gib(plan.fetchesPerDay * (fetch.received + fetch.sent)), prices),
    "Network: sent to the internet": gib(plan.fetchesPerDay * fetch.sent) * prices.egressData,
  };
}

export function sumOf(bill: Bill): number {
  return Object.values(bill).reduce((sum, usd) => sum + usd, 0);
}

/** What the parts of a bill are computed from. */
export interface Running {
  fetches: number;
  plan: Plan;
  workers: number;
  fetch: Fetch;
  objects: Objects;
  prices: Prices;
  choices: Choices;
}

function workerDay({ plan, workers, prices, choices }: Running): number {
  const hour =
    plan.vcpusPerWorker * prices.dataflowStreamingVcpuHour +
    plan.memoryGibPerWorker * prices.dataflowStreamingMemoryHour +
    (choices.streamingEngine ? assumed.workerDiskGib : assumed.workerDiskGibAlone).value * prices.dataflowDiskHour;
  return workers * DAY_HOURS * hour;
}

/** Every URL's record once a day. */
function dailyJob({ fetches, plan, prices }: Running): number {
  const urls = fetches * assumed.urlsPerDailyFetch.value;
  const vcpuHours = (urls * measured.dailyCpuMicroseconds.value * assumed.dailyOverhead.value) / 1e6 / 3_600;
  const memory = plan.memoryGibPerWorker / plan.vcpusPerWorker;
  return (
    vcpuHours * (prices.dataflowBatchVcpuHour + memory * prices.dataflowBatchMemoryHour) +
    gib(urls * assumed.dailyShuffleBytes.value) * prices.dataflowShuffleData
  );
}

const VIOLATION_RUNS = 4; // terraform/modules/watch: every six hours
const VIOLATION_DAYS = 1.5; // today so far, and yesterday

function queries({ fetches, fetch, prices }: Running): number {
  const violations = measured.politenessColumnsBytes.value * VIOLATION_RUNS * VIOLATION_DAYS;
  return tib(fetches * (violations + assumed.scansOfADay.value * fetch.eventRows)) * prices.bigqueryQuery;
}

const NAT_WORKERS_MAX = 32; // https://cloud.google.com/nat/pricing: above it the gateway costs one price

function natDay(workers: number, addresses: number, gibProcessed: number, prices: Prices): number {
  const gatewayHour = workers <= NAT_WORKERS_MAX ? workers * prices.natWorkerHour : prices.natGatewayHour;
  return DAY_HOURS * (gatewayHour + addresses * prices.natAddressHour) + gibProcessed * prices.natData;
}
