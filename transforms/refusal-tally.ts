// How are refusals told? Counted by host, reason and source with three samples, one event each: an event per link would be too many.
import type { SkipEvent } from "../schemas/events.ts";

const SAMPLES = 3;

export class RefusalTally {
  readonly #entries = new Map<string, { hostKey: string; reason: string; source: string; count: number; samples: string[] }>();

  add(hostKey: string, reason: string, url: string, source: string): void {
    const key = `${hostKey} ${reason} ${source}`;
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, { hostKey, reason, source, count: 1, samples: [url] });
      return;
    }
    entry.count++;
    if (entry.samples.length < SAMPLES) entry.samples.push(url);
  }

  events(at: number): SkipEvent[] {
    return [...this.#entries.values()].map((entry) => ({ at, ...entry }));
  }
}
