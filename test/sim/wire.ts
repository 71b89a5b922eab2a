// What do the virtual servers see? Each request from its arrival to its end, told to whoever listens and kept by nobody.

/** A request as the virtual server saw it; all times are true time, Unix ms. */
export interface WireEntry {
  serial: number;
  host: string;
  scheme: string;
  path: string;
  address: string;
  /** When it arrived. */
  at: number;
  /** First byte of the answer; undefined: none came. */
  answeredAt?: number;
  /** When the exchange was over for the server; undefined: it is open. */
  endedAt?: number;
  status: number;
  retryAfter?: string;
  /** Of robots.txt answered with 200. */
  robotsBody?: string;
  location?: string;
  /** Of a body that was read to its end. */
  bodyBytes?: number;
  worker: string;
}

/** Sees each request when it arrives, when its answer begins, and when it is over; entries are completed in place. */
export interface WireObserver {
  arrived?(entry: WireEntry): void;
  answered?(entry: WireEntry): void;
  ended?(entry: WireEntry): void;
}

/** Where the virtual servers hear and are heard; keeps no log, so that ten million requests need no memory. */
export interface Wire {
  /** Observers by what they want to see. */
  arrived: ((entry: WireEntry) => void)[];
  answered: ((entry: WireEntry) => void)[];
  ended: ((entry: WireEntry) => void)[];
  /** Requests of each host so far. */
  serials: Map<string, number>;
  requests: number;
}

export function newWire(observers: readonly WireObserver[]): Wire {
  const seeing = (event: keyof WireObserver) =>
    observers.flatMap((observer) => (observer[event] === undefined ? [] : [observer[event].bind(observer)]));
  return {
    arrived: seeing("arrived"),
    answered: seeing("answered"),
    ended: seeing("ended"),
    serials: new Map(),
    requests: 0,
  };
}

export function tell(observers: ((entry: WireEntry) => void)[], entry: WireEntry): void {
  for (const observe of observers) observe(entry);
}

/** What checkers want to know of an answer's headers and body. */
export function told(headers: readonly [string, string][], status: number, path: string, body: string): Partial<WireEntry> {
  const retryAfter = headers.find(([name]) => name === "retry-after")?.[1];
  const location = headers.find(([name]) => name === "location")?.[1];
  return {
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(location === undefined ? {} : { location }),
    ...(path === "/robots.txt" && status === 200 ? { robotsBody: body } : {}),
  };
}
