// Which instance of a DoFn may a bundle use? One that no other bundle has; those of a failed bundle are torn down and not used again.
import type { Log } from "../../ports/log.ts";
import { isPromise } from "../embedded/instances.ts";

interface Living {
  setup?(): void | Promise<void>;
  teardown?(): void | Promise<void>;
}

export class InstancePool<F extends Living> {
  readonly #label: string;
  readonly #make: () => F;
  readonly #log: Log;
  readonly #living = new Set<F>();
  readonly #idle: F[] = [];
  /** Under way. */
  readonly #teardowns = new Set<Promise<void>>();
  #closed = false;

  constructor(label: string, make: () => F, log: Log) {
    this.#label = label;
    this.#make = make;
    this.#log = log;
  }

  /** Instances that live: as many as bundles of the stage ever ran at a time. */
  get size(): number {
    return this.#living.size;
  }

  /** Rejects where setup does. Ends in giveBack or discard. */
  lend(): F | Promise<F> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const made = this.#make();
    this.#living.add(made);
    const setUp = made.setup?.();
    return isPromise(setUp) ? this.#setUp(made, setUp) : made;
  }

  giveBack(instance: F): void {
    if (this.#closed) this.discard(instance);
    else this.#idle.push(instance);
  }

  /** Tears it down; what fails is logged. */
  discard(instance: F): void {
    if (!this.#living.delete(instance)) return;
    const ended = this.#tearDown(instance).then(() => void this.#teardowns.delete(ended));
    this.#teardowns.add(ended);
  }

  /** Tears down what is idle now, and what is lent when it comes back. Resolves when all that was begun is through. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const instance of this.#idle.splice(0)) this.discard(instance);
    await Promise.all(this.#teardowns);
  }

  async #tearDown(instance: F): Promise<void> {
    try {
      await instance.teardown?.();
    } catch (error) {
      this.#log("error", "a teardown failed", { transform: this.#label, error });
    }
  }

  async #setUp(made: F, setUp: Promise<unknown>): Promise<F> {
    try {
      await setUp;
    } catch (error) {
      this.#living.delete(made);
      throw error;
    }
    return made;
  }
}
