// Where does what does not fit into memory go while a bounded job groups it? Into runs: written once from front to back, read as often.

/** `full`: there is no room left. `damaged`: a run does not read as it was written. `failed`: the place refuses, see the cause. */
export type SpillFault = "full" | "damaged" | "failed";

/** Its message names the place. */
export class SpillError extends Error {
  readonly fault: SpillFault;

  constructor(fault: SpillFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SpillError";
    this.fault = fault;
  }
}

/**
 * All of it is synchronous: what a DoFn emits has to go somewhere before it emits more, and it does not wait. Operations throw SpillError.
 */
export interface Spill {
  begin(): RunWriter;
  /** All runs go, and the place with them; nothing is written or read any more. Throws nothing: what stays is told in the log. */
  removeAll(): void;
}

export interface RunWriter {
  /** One chunk, which comes back in one piece. */
  append(chunk: Uint8Array): void;
  /** Nothing is appended any more. */
  end(): Run;
  /** Nothing of it stays; not after end(). */
  abandon(): void;
}

export interface Run {
  /** Of its chunks together. */
  readonly bytes: number;
  /** From the chunk that begins at `from`: 0, or a RunReader's `at`. */
  read(from?: number): RunReader;
  /** It is not read any more. */
  remove(): void;
}

export interface RunReader {
  /** Where the chunk that next() gave last begins. */
  readonly at: number;
  /** A chunk that is nobody else's; undefined after the last. */
  next(): Buffer | undefined;
  close(): void;
}
