// What does a DoFn see of a group's values? Each decoded when it is asked for, once, with a breath for the event loop now and then.
import { type AnyCodec, decode } from "../../schemas/codec.ts";

/** Values between two breaths: what a socket waits at most. */
const VALUES_A_BREATH = 1000;

export interface ValueSource {
  codec: AnyCodec;
  /** Undefined after the last. May throw. */
  next: () => Uint8Array | undefined;
  /** Throws where nothing is to be read any more. */
  mustGoOn: () => void;
  /** Awaited now and then. */
  breathe: () => Promise<void>;
}

export interface GroupValues extends AsyncIterable<unknown> {
  /** The call that they were given to is over: nothing more is read. */
  end(): void;
}

export function groupValues({ codec, next, mustGoOn, breathe }: ValueSource): GroupValues {
  let taken = false;
  let ended = false;
  let count = 0;

  function step(): IteratorResult<unknown> {
    if (ended) throw new Error("the values of a group were read after the call that they were given to");
    mustGoOn();
    const bytes = next();
    return bytes === undefined ? { done: true, value: undefined } : { done: false, value: decode(codec, bytes) };
  }

  const iterator: AsyncIterator<unknown> = {
    // Not an async generator: that takes three turns a value.
    async next() {
      if (++count % VALUES_A_BREATH === 0) await breathe();
      return step();
    },
    async return() {
      ended = true;
      return { done: true, value: undefined };
    },
  };
  return {
    [Symbol.asyncIterator]() {
      if (taken) throw new Error("the values of a group can be iterated once");
      taken = true;
      return iterator;
    },
    end() {
      ended = true;
    },
  };
}
