// How often was each method called, and when? The books of a fault proxy, which the bench of round trips reads.
import { performance } from "node:perf_hooks";

/** What a plan of faults is asked about. */
export interface Call {
  /** Of gRPC `google.bigtable.v2.Bigtable`, of Cloud Storage `storage`. */
  service: string;
  /** `MutateRow`, `objects.insert`. */
  method: string;
  /** The how manyeth of its method, from 1. */
  count: number;
}

/** One call as the client saw it. Times are Unix ms with fractions. */
export interface CallEntry extends Call {
  startedAt: number;
  endedAt: number;
  /** gRPC's status code or HTTP's status; undefined where the client gave up or the connection was reset. */
  status: number | undefined;
}

export interface CallBook {
  begin: (service: string, method: string) => { call: Call; end: (status: number | undefined) => void };
  /** Calls begun since the start or the last `reset`, by method. */
  counts: () => Record<string, number>;
  reset: () => void;
}

/** `log` is given each call when it has ended for the client. */
export function callBook(log?: (entry: CallEntry) => void): CallBook {
  let counts = new Map<string, number>();
  return {
    begin: (service, method) => {
      const count = (counts.get(method) ?? 0) + 1;
      counts.set(method, count);
      const call = { service, method, count };
      const startedAt = now();
      let open = true;
      const end = (status: number | undefined) => {
        if (open) log?.({ ...call, startedAt, endedAt: now(), status });
        open = false;
      };
      return { call, end };
    },
    counts: () => Object.fromEntries(counts),
    reset: () => {
      counts = new Map();
    },
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
