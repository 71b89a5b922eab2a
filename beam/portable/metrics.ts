// What do a runner's metrics say? Each MonitoringInfo's number, by its type (metrics.proto, MonitoringInfoTypeUrns).
import type { MonitoringInfo } from "./sdk.ts";

export type MetricValue =
  | { kind: "sum" | "latest"; value: number }
  | { kind: "distribution"; count: number; sum: number; min: number; max: number }
  /** Of a type that is not read here. */
  | { kind: "other"; type: string };

export interface Metric {
  /** Of the metric: beam:metric:element_count:v1, say. */
  urn: string;
  /** Which transform, collection or counter. */
  labels: Readonly<Record<string, string>>;
  value: MetricValue;
}

export function readMetric({ urn, labels, type, payload }: MonitoringInfo): Metric {
  return { urn, labels: { ...labels }, value: readValue(type, payload) };
}

function readValue(type: string, payload: Uint8Array): MetricValue {
  const other = { kind: "other", type } as const;
  if (type === "beam:metrics:sum_int64:v1") {
    const [value] = varints(payload, 1);
    return value === undefined ? other : { kind: "sum", value };
  }
  if (type === "beam:metrics:latest_int64:v1") {
    // Its time, then its value.
    const [, value] = varints(payload, 2);
    return value === undefined ? other : { kind: "latest", value };
  }
  if (type === "beam:metrics:distribution_int64:v1") {
    const [count, sum, min, max] = varints(payload, 4);
    if (count === undefined || sum === undefined || min === undefined || max === undefined) return other;
    return { kind: "distribution", count, sum, min, max };
  }
  return other;
}

const VARINT_BYTES_MAX = 10;

/** The first `most` 64-bit numbers in base 128 (beam:coder:varint:v1); fewer where the bytes end. */
function varints(bytes: Uint8Array, most: number): number[] {
  const found: number[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of bytes) {
    if (found.length === most || shift >= 7n * BigInt(VARINT_BYTES_MAX)) break;
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte >= 0x80) continue;
    found.push(Number(BigInt.asIntN(64, value)));
    value = 0n;
    shift = 0n;
  }
  return found;
}
