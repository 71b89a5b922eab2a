// Where does what comes over the data planes wait for its bundle? In one inbox an instruction, over all planes: data may come before the request.
import { Fifo } from "../embedded/fifo.ts";
import type { Frame } from "./messages.ts";

/** Instructions that have ended and whose late frames are known to be late. */
const ENDED_REMEMBERED = 1024;
/** Inboxes that no request has claimed yet; a runner sends the request with the data, not hundreds of bundles later. */
const UNCLAIMED_MAX = 1024;

export interface Inbox {
  /** In order of arrival; undefined once the inbox is closed. */
  next(): Frame | undefined | Promise<Frame | undefined>;
  /** Nothing more is taken or kept. */
  close(): void;
}

/** Whoever brought a frame learns that it was taken, or dropped. */
type Taken = () => void;

interface Entry {
  frames: Fifo<{ frame: Frame; taken: Taken }>;
  claimed: boolean;
  closed: boolean;
  wake: (() => void) | undefined;
}

/** Of one worker: the ids of its instructions are its own (Flink counts anew for each). */
export class Inboxes {
  readonly #entries = new Map<string, Entry>();
  readonly #ended = new Set<string>();
  #unclaimed = 0;

  get size(): number {
    return this.#entries.size;
  }

  put(frame: Frame, taken: Taken): void {
    const entry = this.#entries.get(frame.instruction) ?? this.#unclaimedEntry(frame.instruction);
    if (entry === undefined) {
      taken();
      return;
    }
    entry.frames.push({ frame, taken });
    entry.wake?.();
  }

  /** The instruction has begun. Close the inbox at its end. */
  claim(instruction: string): Inbox {
    // A runner that counts anew on the same worker means the new one.
    this.#ended.delete(instruction);
    const entry = this.#entries.get(instruction) ?? this.#add(instruction);
    if (!entry.claimed) this.#unclaimed--;
    entry.claimed = true;
    return {
      next: () => (entry.frames.length > 0 || entry.closed ? shift(entry) : arrival(entry).then(() => shift(entry))),
      close: () => this.#close(instruction, entry),
    };
  }

  #unclaimedEntry(instruction: string): Entry | undefined {
    if (this.#ended.has(instruction) || this.#unclaimed >= UNCLAIMED_MAX) return undefined;
    return this.#add(instruction);
  }

  #add(instruction: string): Entry {
    const entry: Entry = { frames: new Fifo(), claimed: false, closed: false, wake: undefined };
    this.#entries.set(instruction, entry);
    this.#unclaimed++;
    return entry;
  }

  #close(instruction: string, entry: Entry): void {
    if (entry.closed) return;
    entry.closed = true;
    for (let waiting = entry.frames.shift(); waiting !== undefined; waiting = entry.frames.shift()) waiting.taken();
    entry.wake?.();
    if (this.#entries.get(instruction) === entry) this.#entries.delete(instruction);
    this.#ended.add(instruction);
    if (this.#ended.size > ENDED_REMEMBERED) for (const oldest of this.#ended) return void this.#ended.delete(oldest);
  }
}

function shift(entry: Entry): Frame | undefined {
  const waiting = entry.closed ? undefined : entry.frames.shift();
  waiting?.taken();
  return waiting?.frame;
}

function arrival(entry: Entry): Promise<void> {
  return new Promise((resolve) => {
    entry.wake = () => {
      entry.wake = undefined;
      resolve();
    };
  });
}
