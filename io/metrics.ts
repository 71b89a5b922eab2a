// What has been counted so far? Counters, gauges and histograms in memory, for the status line, the report and exporters.
import type { Labels, Metrics } from "../ports/metrics.ts";
import { type Distribution, distribution } from "./distribution.ts";

export interface MemoryMetrics extends Metrics {
  /** Of exactly these labels; 0 where nothing was counted. */
  counter(name: string, labels?: Labels): number;
  /** Over all labels. */
  total(name: string): number;
  /** The counts of a name by the values of one of its labels; series without that label are left out. */
  totalsBy(name: string, label: string): Record<string, number>;
  /** The value last set. */
  gaugeValue(name: string, labels?: Labels): number | undefined;
  /** What was observed under exactly these labels. */
  observed(name: string, labels?: Labels): Distribution | undefined;
  snapshot(): MetricsSnapshot;
}

/** JSON; each list in the order of names and labels. */
export interface MetricsSnapshot {
  counters: { name: string; labels: Labels; value: number }[];
  gauges: { name: string; labels: Labels; value: number }[];
  histograms: {
    name: string;
    labels: Labels;
    count: number;
    sum: number;
    min: number;
    max: number;
    p50: number;
    p90: number;
    p99: number;
  }[];
}

// Series of one kind. Labels come from closed lists, so that a few hundred are usual; the limit is for a label that should not be one.
const SERIES_MAX = 10_000;

/** Where the series beyond SERIES_MAX are counted together, so that totals stay right. */
const overflowLabels: Labels = { overflow: "true" };

export function memoryMetrics(): MemoryMetrics {
  const counters = family(() => ({ value: 0 }));
  const gauges = family(() => ({ value: 0 }));
  const histograms = family(distribution);
  return {
    count(name, by = 1, labels) {
      counters.of(name, labels).value += by;
    },
    gauge(name, value, labels) {
      gauges.of(name, labels).value = value;
    },
    observe(name, value, labels) {
      histograms.of(name, labels).add(value);
    },
    counter: (name, labels) => counters.find(name, labels)?.value ?? 0,
    total: (name) => counters.all(name).reduce((sum, { of }) => sum + of.value, 0),
    totalsBy(name, label) {
      const totals = new Map<string, number>();
      for (const { labels, of } of counters.all(name)) {
        const value = labels[label];
        if (value !== undefined) totals.set(value, (totals.get(value) ?? 0) + of.value);
      }
      return Object.fromEntries(totals);
    },
    gaugeValue: (name, labels) => gauges.find(name, labels)?.value,
    observed: (name, labels) => histograms.find(name, labels),
    snapshot: () => ({
      counters: counters.all().map(({ name, labels, of }) => ({ name, labels, value: of.value })),
      gauges: gauges.all().map(({ name, labels, of }) => ({ name, labels, value: of.value })),
      histograms: histograms.all().map(({ name, labels, of }) => ({ name, labels, ...summary(of) })),
    }),
  };
}

interface Series<T> {
  name: string;
  labels: Labels;
  of: T;
}

interface Family<T> {
  /** Made where it is new. */
  of(name: string, labels: Labels | undefined): T;
  find(name: string, labels: Labels | undefined): T | undefined;
  all(name?: string): Series<T>[];
}

function family<T>(make: () => T): Family<T> {
  const series = new Map<string, Series<T>>();
  const add = (key: string, name: string, labels: Labels): T => {
    if (series.size >= SERIES_MAX && labels !== overflowLabels) return overflow(name);
    const added = { name, labels, of: make() };
    series.set(key, added);
    return added.of;
  };
  const overflow = (name: string): T => {
    const key = seriesKey(name, overflowLabels);
    return series.get(key)?.of ?? add(key, name, overflowLabels);
  };
  return {
    of(name, labels) {
      const key = seriesKey(name, labels);
      return series.get(key)?.of ?? add(key, name, { ...labels });
    },
    find: (name, labels) => series.get(seriesKey(name, labels))?.of,
    all: (name) =>
      [...series]
        .filter(([, one]) => name === undefined || one.name === name)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, one]) => one),
  };
}

// Control characters are in no name and no label of ours, so that the parts of a key cannot run into each other.
const BEFORE_LABEL = "\u0001";
const BEFORE_VALUE = "\u0002";

/** The same for the same labels in any order. */
function seriesKey(name: string, labels: Labels | undefined): string {
  if (labels === undefined) return name;
  let key = name;
  let last = "";
  for (const label in labels) {
    if (label < last) return sortedKey(name, labels); // seldom: calls write their labels in one order
    key += keyPart(label, labels[label]!);
    last = label;
  }
  return key;
}

function sortedKey(name: string, labels: Labels): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return name + sorted.map(([label, value]) => keyPart(label, value)).join("");
}

function keyPart(label: string, value: string): string {
  return BEFORE_LABEL + label + BEFORE_VALUE + value;
}

function summary({ count, sum, min, max, quantile }: Distribution) {
  return { count, sum, min, max, p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99) };
}
