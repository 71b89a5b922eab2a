// What is a job service given of a crawl? Its graph with the sources that the engine can carry, given to its workers, and the engine's options.
import assert from "node:assert";
import { dataflowOptions } from "../../beam/portable/dataflow.ts";
import { type Environment, withEnvironment } from "../../beam/portable/environment.ts";
import { flinkOptions, type PipelineOptions } from "../../beam/portable/options.ts";
import { type PubsubRead, withPubsubReads } from "../../beam/portable/pubsub-reads.ts";
import type { Submission } from "../../beam/portable/submit.ts";
import { pubsubNames } from "../../io/queues/pubsub-names.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { decodeDiscover, decodeHost, decodeReparse } from "../../transforms/read-queues.ts";
import { workerOptions } from "../container/worker-settings.ts";
import { crawlPipeline } from "../crawl.ts";
import type { CrawlOptions } from "../options.ts";
import type { CloudPlace } from "../stores/cloud-place.ts";
import type { EnginePlace } from "./engine-place.ts";

export type PortableOptions = CrawlOptions & Required<Pick<CrawlOptions, "cloud">>;

interface EngineJob {
  options: PortableOptions;
  place: EnginePlace;
  config: CrawlConfig;
  /** Where its workers run. */
  environment: Environment;
}

/** For submit(). */
export function engineJob(job: EngineJob): Required<Pick<Submission, "proto" | "options">> {
  const { options, place, config, environment } = job;
  return {
    proto: withEnvironment(sourced(config, place, options.cloud), environment),
    options: {
      ...engineOptions(place, options.cloud),
      ...workerOptions({ job: "crawl", ...options, ...delaysOn(place), epoch: config.epoch }),
    },
  };
}

/** Dataflow has a read of Pub/Sub of its own; the others run our splittable sources. */
function sourced(config: CrawlConfig, { engine }: EnginePlace, cloud: CloudPlace) {
  const graph = crawlPipeline(config);
  return engine === "dataflow" ? withPubsubReads(graph, queueReads(cloud)) : graph;
}

/** By the labels of the sources. */
function queueReads({ project, crawl }: CloudPlace): Record<string, PubsubRead> {
  const { discover, host, reparse } = pubsubNames(project, crawl).queues;
  return {
    ReadDiscover: { subscription: discover.subscription, decoder: decodeDiscover },
    ReadHost: { subscription: host.subscription, decoder: decodeHost },
    ReadReparse: { subscription: reparse.subscription, decoder: decodeReparse },
  };
}

/** What the engine itself is told. */
export function engineOptions(place: EnginePlace, cloud: CloudPlace | undefined): PipelineOptions {
  if (place.engine !== "dataflow") return place.engine === "flink" ? flinkOptions() : {};
  assert(cloud !== undefined, "a job of Dataflow has its stores in the cloud");
  return dataflowOptions({
    ...place.dataflow,
    project: cloud.project,
    stagingLocation: `gs://${cloud.bucket}/dataflow/staging`,
    tempLocation: `gs://${cloud.bucket}/dataflow/temp`,
    labels: { crawl: cloud.crawl },
  });
}

/** Prism keeps any delay of a source, Flink whole seconds. A page of a host waits for one: its lease's report comes by a queue. */
function delaysOn({ engine }: EnginePlace): { delayStepMs?: number } {
  return engine === "prism" ? { delayStepMs: 50 } : {};
}
