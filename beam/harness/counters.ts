// How do our own counters reach the runner? What was counted since the last bundle's answer goes with the next one (Beam's user counters).
import type { Labels, Metrics } from "../../ports/metrics.ts";

/** Names with their labels; a label's values come from closed lists, so this is many times what there is. */
const COUNTERS_MAX = 1000;

export interface Counters {
  /** Counts here and in what it was made of. */
  readonly metrics: Metrics;
  /** What has been counted since the last take, by name and labels: `fetches_total{outcome=ok}`. */
  take(): Map<string, number>;
}

/** Whole numbers alone: Beam's counters have no others. */
export function counters(of: Metrics): Counters {
  let counted = new Map<string, number>();

  function add(name: string, by: number): void {
    const before = counted.get(name);
    if (before !== undefined || counted.size < COUNTERS_MAX) counted.set(name, (before ?? 0) + by);
  }

  return {
    metrics: {
      count(name, by = 1, labels) {
        of.count(name, by, labels);
        if (Number.isSafeInteger(by)) add(spelled(name, labels), by);
      },
      gauge: (name, value, labels) => of.gauge(name, value, labels),
      observe: (name, value, labels) => of.observe(name, value, labels),
    },
    take() {
      const taken = counted;
      counted = new Map();
      return taken;
    },
  };
}

function spelled(name: string, labels: Labels = {}): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return parts.length === 0 ? name : `${name}{${parts.join(",")}}`;
}
