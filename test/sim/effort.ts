// Does the run go round in circles? Port calls are paid for out of a budget that the passing of virtual time and requests fill.

export interface Effort {
  /** Pays for one port call; false when nothing is left: nobody is answered any more. */
  spend(): boolean;
  /** A request arrived somewhere. */
  request(): void;
  /** A stretch of virtual time is over. */
  renew(): void;
  /** The most calls that a stretch has taken, as a share of what it might have: how far a healthy run stays from the end. */
  readonly most: number;
}

export interface EffortOptions {
  /** Calls in one stretch, for each host; and some for those who have no hosts. */
  hosts: number;
  /** Called once, when the budget is spent. */
  spent: (words: string) => void;
}

const CALLS_AT_LEAST = 50_000;
const CALLS_A_HOST = 1_000;
/** Ten times what a request takes in all: reads, admit, release, store, completion, links, reports, turns. */
const CALLS_A_REQUEST = 500;

export function effortOf({ hosts, spent }: EffortOptions): Effort {
  const start = CALLS_AT_LEAST + hosts * CALLS_A_HOST;
  let left = start;
  let whole = start;
  let most = 0;
  let over = false;
  return {
    spend() {
      if (--left > 0) return true;
      if (!over) spent(`${whole} port calls, and time has hardly passed: somebody goes round in circles`);
      over = true;
      return false;
    },
    request() {
      left += CALLS_A_REQUEST;
      whole += CALLS_A_REQUEST;
    },
    renew() {
      most = Math.max(most, 1 - left / whole);
      left = start;
      whole = start;
    },
    get most() {
      return most;
    },
  };
}
