// What does an engine give a DoFn? A bundle that collects what is emitted, and one key's state and timer.
import assert from "node:assert/strict";
import type { BundleContext, KeyedContext, Outputs } from "../../beam/dofn.ts";

export interface Emitted {
  output: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a test's DoFn gives
  value: any;
}

export function bundle<O extends Outputs>(): BundleContext<O> & { emitted: Emitted[]; commit(): Promise<void> } {
  const emitted: Emitted[] = [];
  const afterwards: (() => void | Promise<void>)[] = [];
  return {
    emitted,
    emit: (output, value) => void emitted.push({ output, value }),
    afterCommit: (run) => void afterwards.push(run),
    async commit() {
      for (const run of afterwards.splice(0)) await run();
    },
  };
}

/** One key whose state is kept from call to call; `timer` is the time it is set for. */
export function keyContext<O extends Outputs, S extends Record<string, unknown>>(key: string) {
  const cells = new Map<string, unknown>();
  const emitted: Emitted[] = [];
  const context: KeyedContext<O, S> & { emitted: Emitted[]; timer: number | undefined; cells: Map<string, unknown> } = {
    key,
    cells,
    emitted,
    timer: undefined,
    emit: (output, value) => void emitted.push({ output, value }),
    afterCommit: () => {},
    state: (cell) => ({
      get: async () => cells.get(cell) as S[typeof cell] | undefined,
      set: (value) => void cells.set(cell, value),
      clear: () => void cells.delete(cell),
    }),
    bag: () => assert.fail("no DoFn of ours has a bag"),
    setTimer: (_family, fireAt) => {
      context.timer = fireAt;
    },
    clearTimer: () => {
      context.timer = undefined;
    },
  };
  return context;
}
