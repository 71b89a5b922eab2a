// What of the body has come, and how did it end? A queue between undici, which pushes, and the reader, who pulls.
import type { BodyEnd } from "../../schemas/reasons.ts";

/** Why a body ended before its end, as it travels through streams. */
export class BodyCut extends Error {
  readonly reason: BodyEnd;
  constructor(reason: BodyEnd, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

export interface Incoming {
  push(chunk: Buffer): void;
  /** The end, regular or not; the first one counts. Chunks that came before stay. */
  end(cut?: BodyCut): void;
  /** Drops what came and what comes. */
  drop(): void;
  /** Bytes that came, read or not. */
  wireBytes(): number;
  /** Resolves when the body has ended or more than `bytes` have come. Whether it ended as it should. */
  gather(bytes: number): Promise<boolean>;
  /** The chunks not yet read, at once. */
  rest(): Buffer[];
  /** The chunks as they come. Throws BodyCut. */
  chunks(): AsyncGenerator<Buffer>;
}

export interface IncomingFlow {
  pause(): void;
  resume(): void;
}

export function incoming(flow: IncomingFlow): Incoming {
  let queue: Buffer[] = [];
  let queued = 0;
  let wireBytes = 0;
  let dropping = false;
  let paused = false;
  let ending: { cut: BodyCut | undefined } | undefined;
  let wake = () => {};

  /** Resolves at the next chunk or end. */
  function more(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
      if (!paused) return;
      paused = false;
      flow.resume();
    });
  }
  function rest(): Buffer[] {
    const all = queue;
    queue = [];
    queued = 0;
    return all;
  }
  return {
    push(chunk) {
      wireBytes += chunk.length;
      if (!dropping) {
        queue.push(chunk);
        queued += chunk.length;
      }
      if (queued > QUEUE_BYTES && !paused) {
        paused = true;
        flow.pause();
      }
      wake();
    },
    end(cut) {
      ending ??= { cut };
      wake();
    },
    drop() {
      dropping = true;
      rest();
      void more();
    },
    wireBytes: () => wireBytes,
    async gather(bytes) {
      while (ending === undefined && wireBytes <= bytes) await more();
      return ending !== undefined && ending.cut === undefined;
    },
    rest,
    async *chunks() {
      for (;;) {
        yield* rest();
        if (queue.length > 0) continue;
        if (ending?.cut !== undefined) throw ending.cut;
        if (ending !== undefined) return;
        await more();
      }
    },
  };
}

const QUEUE_BYTES = 256 * 1024; // unread bytes at which the server is made to wait
