// When do the hosts of the grants begin, and when do their URLs come due?
import { START } from "./given.ts";

export interface GrantCase {
  hosts: number;
  /** URLs a host. */
  urls: number;
  /** `slots`: a host's URLs come due one by one, one before each of its turns; `queue`: all are due, and a completed one at once again. */
  again: "slots" | "queue";
}

export interface DueTimes {
  first(host: number, url: number): number;
  /** After a completion; 0: at once, behind the host's others. */
  againMs(host: number): number;
}

/** Each host begins at its own time within one delay. */
export function beginOf(host: number, hosts: number, delayMs: number): number {
  return START + 1_000 + Math.floor((host * delayMs) / hosts);
}

/** When URLs are due first and again. In slots they come due at a moment of the host's own between two of its turns. */
export function dueTimes({ hosts, urls, again }: GrantCase, delayMs: number): DueTimes {
  if (again === "queue") return { first: (_host, url) => START - urls + url, againMs: () => 0 };
  const share = (host: number): number => ((host * 7_919) % 1_000) / 1_000;
  return {
    first: (host, url) =>
      url === 0 ? START - 1 : Math.floor(beginOf(host, hosts, delayMs) + (url - 1 + share(host)) * delayMs),
    againMs: (host) => Math.floor((urls - 1 + share(host)) * delayMs),
  };
}
