// How many hosts of this worker wait for their turn, and how many fail? A gauge by state; the hosts themselves are no labels.
import type { Metrics } from "../ports/metrics.ts";

export type HostActivity = "waiting" | "failing" | "resting";

export interface HostGauge {
  /** undefined: the host was left to the sweep. */
  set(paceKey: string, activity: HostActivity | undefined): void;
}

export function hostGauge(metrics: Metrics): HostGauge {
  const hosts = new Map<string, HostActivity>();
  const counts: Record<HostActivity, number> = { waiting: 0, failing: 0, resting: 0 };
  const change = (activity: HostActivity, by: number): void => {
    counts[activity] += by;
    metrics.gauge("gleaner_hosts", counts[activity], { state: activity });
  };
  return {
    set(paceKey, activity) {
      const before = hosts.get(paceKey);
      if (before === activity) return;
      if (before !== undefined) change(before, -1);
      if (activity === undefined) hosts.delete(paceKey);
      else {
        hosts.set(paceKey, activity);
        change(activity, 1);
      }
    },
  };
}
