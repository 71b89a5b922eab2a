// How many leases run at once in a worker? A bounded pool: leases wait for their time outside its slots, then for a slot.
import type { Clock } from "../../ports/clock.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { FetchLease } from "../../schemas/lease.ts";

export interface FetchPool {
  /** Resolves when the pool has taken the lease; waits while too many wait already. */
  take(lease: FetchLease): Promise<void>;
  /** Admits nothing more and resolves when all that runs has ended. */
  drain(): Promise<void>;
  /** Leases taken and not yet ended. */
  readonly held: number;
}

export interface PoolOptions {
  slots: number;
  clock: Clock;
  metrics: Metrics;
  /** Runs one lease. Gives the time (Unix ms) at which to run it again, or undefined when it has ended. Never rejects. */
  run(lease: FetchLease): Promise<number | undefined>;
  /** Ends a lease that the pool may no longer run. Never rejects. */
  turnAway(lease: FetchLease): Promise<void>;
}

/** Leases that may wait for their time or a slot, for each slot. */
const WAITING_PER_SLOT = 2;

export function fetchPool({ slots, clock, metrics, run, turnAway }: PoolOptions): FetchPool {
  const waitingMax = slots * WAITING_PER_SLOT;
  const queue: FetchLease[] = [];
  const early = new Map<FetchLease, () => void>();
  const doors: (() => void)[] = [];
  const drained: (() => void)[] = [];
  let running = 0;
  let leaving = 0;
  /** Let in by a door and not yet entered. */
  let entering = 0;
  let open = true;

  const waiting = (): number => early.size + queue.length + entering;
  const gauge = (): void => {
    metrics.gauge("gleaner_fetches_in_flight", running);
    while (doors.length > 0 && (waiting() < waitingMax || !open)) {
      entering++;
      doors.shift()!();
    }
    if (!open && running + leaving + waiting() === 0) for (const done of drained.splice(0)) done();
  };
  const leave = (lease: FetchLease): void => {
    leaving++;
    void turnAway(lease).finally(() => {
      leaving--;
      gauge();
    });
  };
  const start = (): void => {
    while (running < slots && queue.length > 0) {
      const lease = queue.shift()!;
      running++;
      void run(lease).then((again) => {
        running--;
        if (again !== undefined) enter({ ...lease, notBefore: again });
        start();
      });
    }
    gauge();
  };
  const enter = (lease: FetchLease): void => {
    const wait = lease.notBefore - clock.now();
    const join = (): void => {
      early.delete(lease);
      queue.push(lease);
      start();
    };
    if (!open) leave(lease);
    else if (wait <= 0) join();
    else early.set(lease, clock.after(wait, join));
  };

  return {
    async take(lease) {
      if (open && waiting() >= waitingMax) {
        await new Promise<void>((resolve) => doors.push(resolve));
        entering--;
      }
      enter(lease);
    },
    drain() {
      open = false;
      const left = [...early.keys(), ...queue.splice(0)];
      for (const callOff of early.values()) callOff();
      early.clear();
      for (const lease of left) leave(lease);
      return new Promise((resolve) => {
        drained.push(resolve);
        gauge();
      });
    },
    get held() {
      return waiting() + running + leaving;
    },
  };
}
