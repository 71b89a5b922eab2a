// Which instance of a DoFn may a bundle use? One that no other bundle has: a pool that makes, sets up, lends and at the end tears down.
import type { Log } from "../../ports/log.ts";
import type { BundleContext, Outputs } from "../dofn.ts";

/** Any DoFn, as the engine calls it. */
export interface AnyDoFn {
  setup?(): void | Promise<void>;
  startBundle?(): void | Promise<void>;
  process(element: unknown, context: BundleContext<Outputs>): void | Promise<void>;
  onTimer?(family: string, context: BundleContext<Outputs>): void | Promise<void>;
  finishBundle?(context: BundleContext<Outputs>): void | Promise<void>;
  teardown?(): void | Promise<void>;
}

export class Instances<F extends Pick<AnyDoFn, "setup" | "teardown">> {
  readonly #make: () => F;
  readonly #made: F[] = [];
  readonly #idle: F[] = [];

  constructor(make: () => F) {
    this.#make = make;
  }

  /** Rejects where setup does. One that is never given back, as after a failed bundle, is not lent again. */
  lend(): F | Promise<F> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const made = this.#make();
    this.#made.push(made);
    const setUp = made.setup?.();
    return isPromise(setUp) ? setUp.then(() => made) : made;
  }

  giveBack(instance: F): void {
    this.#idle.push(instance);
  }

  /** Tears down all that were ever made, each once; what fails is logged. */
  async teardown(log: Log, stage: string): Promise<void> {
    const torn = this.#made.map(async (instance) => instance.teardown?.());
    for (const end of await Promise.allSettled(torn))
      if (end.status === "rejected") log("error", "a teardown failed", { stage, error: end.reason });
  }
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && typeof (value as Promise<unknown>).then === "function";
}
