// How do many seeds run at once? Each in a process of its own that takes the next when it is done; the seed alone decides what it finds.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { type CaseEnd, duration, runCase, type SimCase } from "./case.ts";
import type { SimProgress } from "./run-parts.ts";

export interface Swarm {
  /** Those that were begun, in the order of the cases; undefined: it was never begun, or its process died. */
  readonly ends: readonly Promise<CaseEnd | undefined>[];
  /** No more are begun, and those at work end soon. */
  cut(): void;
}

type Order = { run: SimCase } | "cut";

/** Processes are not started for fewer cases, and end when the last case has. */
export function swarm(cases: readonly SimCase[], workers: number): Swarm {
  const ends = cases.map(() => Promise.withResolvers<CaseEnd | undefined>());
  const children = new Set<ChildProcess>();
  let next = 0;

  function serve(child: ChildProcess): void {
    const index = next++;
    if (index >= cases.length) {
      child.disconnect();
      return;
    }
    child.once("message", (end) => {
      child.off("exit", died);
      ends[index]!.resolve(end as CaseEnd);
      serve(child);
    });
    const died = (): void => {
      ends[index]!.resolve(undefined);
      if (next < cases.length) serve(begun());
    };
    child.once("exit", died);
    child.send({ run: cases[index]! } satisfies Order);
  }

  function begun(): ChildProcess {
    const child = fork(join(import.meta.dirname, "run.ts"), ["--child"], { execArgv: [] });
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  }

  for (let count = Math.min(workers, cases.length); count > 0; count--) serve(begun());
  return {
    ends: ends.map(({ promise }) => promise),
    cut() {
      for (const { resolve } of ends.slice(next)) resolve(undefined);
      next = cases.length;
      for (const child of children) if (child.connected) child.send("cut" satisfies Order);
    },
  };
}

/** What such a process does: the orders of its parent, until it is disconnected. */
export function serveSwarm(): void {
  let isCut = false;
  process.on("SIGINT", () => undefined); // the parent hears it too, and orders
  process.once("disconnect", () => process.exit()); // nobody is there to be told
  process.on("message", async (order: Order) => {
    if (order === "cut") {
      isCut = true;
      return;
    }
    process.send!(await runCase(order.run, { isCut: () => isCut, progress: progressOf(order.run) }));
  });
}

const TELL_MS = 10_000; // between two lines of progress

/** Writes a line to stderr now and then, so that who waits sees that it works. */
export function progressOf({ seed, fetches }: SimCase): (now: SimProgress) => void {
  let toldAt = performance.now();
  return ({ phase, requests, virtualMs }) => {
    if (performance.now() - toldAt < TELL_MS) return;
    toldAt = performance.now();
    process.stderr.write(`seed ${seed}: ${requests} of ${fetches} requests, ${duration(virtualMs)}, ${phase}\n`);
  };
}
