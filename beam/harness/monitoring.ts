// What does a runner learn of a bundle's work? The elements of each collection and our own counters, as MonitoringInfos (metrics.proto).
import { type MonitoringInfo, monitoring } from "../fn-sdk.ts";
import type { Bundle } from "./bundle.ts";
import type { Stage } from "./stages.ts";
import { WireWriter } from "./wire-bytes.ts";

const ELEMENT_COUNT = "beam:metric:element_count:v1";
const USER_COUNTER = "beam:metric:user:sum_int64:v1";
const SUM = "beam:metrics:sum_int64:v1";
const NAMESPACE = "gleaner";

/** By short id and in full: which of the two a runner reads is its own affair. */
export interface Report {
  monitoringInfos: MonitoringInfo[];
  monitoringData: Record<string, Uint8Array>;
}

/** `counted`: by name, attributed to the stage's first DoFn. */
export function report(
  { name, plan, counted: infos }: Stage,
  bundle: Bundle,
  counted: ReadonlyMap<string, number> = new Map(),
): Report {
  const all: Report = { monitoringInfos: [], monitoringData: {} };
  for (const [index, count] of bundle.counts.entries()) {
    const payload = sum(count);
    all.monitoringInfos.push({ ...infos[index]!, payload });
    all.monitoringData[`${name}-${index}`] = payload;
  }
  const transform = plan.steps.find(({ work }) => "definition" in work)?.id;
  if (transform === undefined) return all;
  for (const [counter, by] of counted) {
    const labels = { PTRANSFORM: transform, NAMESPACE, NAME: counter };
    all.monitoringInfos.push(monitoring.MonitoringInfo.create({ urn: USER_COUNTER, type: SUM, labels, payload: sum(by) }));
  }
  return all;
}

/** What a short id stands for; undefined where it is none of ours. */
export function metadataOf(shortId: string, stage: (name: string) => Stage | undefined): MonitoringInfo | undefined {
  const [name = "", index = ""] = shortId.split("-");
  return stage(name)?.counted[Number(index)];
}

/** The count of a collection, without its number. */
export function elementCount(collection: string): MonitoringInfo {
  return monitoring.MonitoringInfo.create({ urn: ELEMENT_COUNT, type: SUM, labels: { PCOLLECTION: collection } });
}

const writer = new WireWriter();

function sum(count: number): Uint8Array {
  writer.int64(BigInt(count));
  return writer.take();
}
