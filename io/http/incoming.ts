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
  let crumbs: Buffer[] = []; // the last few chunks, where they are small
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
  function put(chunk: Buffer): void {
    if (chunk.length >= CRUMB_BYTES) sweep();
    (chunk.length < CRUMB_BYTES ? crumbs : queue).push(chunk);
    if (crumbs.length >= CRUMBS) sweep();
  }
  /** Into one: a body of single bytes would take some hundred times its size. */
  function sweep(): void {
    if (crumbs.length > 0) queue.push(crumbs.length === 1 ? crumbs[0]! : Buffer.concat(crumbs));
    crumbs = [];
  }
  function rest(): Buffer[] {
    sweep();
    const all = queue;
    queue = [];
    queued = 0;
    return all;
  }
  return {
    push(chunk) {
      wireBytes += chunk.length;
      if (!dropping) {
        put(chunk);
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
        if (queued > 0) continue;
        if (ending?.cut !== undefined) throw ending.cut;
        if (ending !== undefined) return;
        await more();
      }
    },
  };
}

const CRUMB_BYTES = 1024; // a chunk below it costs as much to hold as it holds
const CRUMBS = 256; // of them at once, at 200 bytes each
const QUEUE_BYTES = 256 * 1024; // unread bytes at which the server is made to wait
