// How is a parser fuzzed? Inputs that fast-check makes up, one after another for a given time, each judged by the parser's own check.
import assert from "node:assert/strict";
import fc from "fast-check";

export interface FuzzedParser {
  /** As --parser calls it; unique. */
  name: string;
  /** Rejects with the input made small, and what replays it, if a check fails. The number of inputs otherwise. */
  run(options: FuzzOptions): Promise<number>;
}

export interface FuzzOptions {
  seed: number;
  ms: number;
  /** Of an earlier failure with the same seed: that input alone, made small. */
  path?: string;
  /** Told before each input: its index, by which `path` replays it. */
  onInput?: (index: number) => void;
}

/** No input may take this long: a call that does is taken for one that hangs. Far above what a busy machine makes of linear time. */
export const HANG_MS = 10_000;

/**
 * A parser with the inputs to try, some of them shaped so that they pass its first gates, and what must hold of each: it is called,
 * does not throw, keeps its limits, and gives the same in pieces as whole where it streams.
 */
export function fuzzed<T>(name: string, inputs: fc.Arbitrary<T>, check: (input: T) => void | Promise<void>): FuzzedParser {
  return {
    name,
    async run({ seed, ms, path, onInput }) {
      let count = 0;
      const property = fc.asyncProperty(inputs, async (input) => {
        onInput?.(count);
        count++;
        const startedAt = performance.now();
        await check(input);
        const tookMs = performance.now() - startedAt;
        assert.ok(tookMs < HANG_MS, `one input took ${Math.round(tookMs)} ms`);
      });
      const time = { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: ms };
      await fc.assert(property, { seed, ...(path === undefined ? time : { path, endOnFailure: true, numRuns: 1 }) });
      return count;
    },
  };
}
