// Was a host asked for more than its pages or bytes of a UTC day? Counted from the wire, by the server's time.
import type { WireEntry } from "../wire.ts";
import { allowances } from "./allowance.ts";
import type { SimFacts, Violations } from "./checker.ts";
import { crashes } from "./crashes.ts";
import { kept } from "./kept.ts";

interface Day {
  day: number;
  pages: number;
  /** Answers to requests of the day, as far as they had bodies. */
  entries: WireEntry[];
}

const DAY_MS = 86_400_000;
/** A request this close to midnight may have been booked on either day: it counts for none. */
const MIDNIGHT_MS = 1_000;
/** From the end of an answer to the durable write of its bytes where others may be under way: the tries of a store that refuses. */
const BOOKED_MS = 20_000;

/** Bytes are known when they have come, so what was under way then is beyond the budget; and what a worker that died had not written. */
export function dayBudgets(facts: SimFacts, violations: Violations) {
  const { config, faultless, now, storeMsMax = 0 } = facts;
  const allowanceOf = allowances(config);
  const lost = crashes(storeMsMax);
  const hosts = new Map<string, Day>();
  const figures = { daysSpent: 0 };

  /** Bytes that the host's record must know of when the request was admitted. */
  function bytesBefore({ entries }: Day, { at, host }: WireEntry): number {
    const alone = allowanceOf(host).concurrency === 1;
    const from = at - (alone ? 0 : faultless ? MIDNIGHT_MS : BOOKED_MS + storeMsMax);
    let bytes = 0;
    for (const entry of entries) {
      const { endedAt = Number.POSITIVE_INFINITY, bodyBytes = 0 } = entry;
      if (endedAt <= from && endedAt % DAY_MS > MIDNIGHT_MS && !lost.forgotten(entry)) bytes += bodyBytes;
    }
    return bytes;
  }

  return {
    figures,
    crashed: (worker: string): void => lost.crashed(worker, now()),
    /** Must be told of every request for a page. */
    arrived(entry: WireEntry): void {
      const { pagesPerDay, bytesPerDay } = allowanceOf(entry.host);
      if (pagesPerDay === Number.POSITIVE_INFINITY && bytesPerDay === Number.POSITIVE_INFINITY) return;
      const inDay = entry.at % DAY_MS;
      if (inDay < MIDNIGHT_MS || inDay > DAY_MS - MIDNIGHT_MS) return;
      const day = Math.floor(entry.at / DAY_MS);
      const log = kept(hosts, entry.host, (): Day => ({ day, pages: 0, entries: [] }));
      if (log.day !== day) Object.assign(log, { day, pages: 0, entries: [] });
      log.pages++;
      if (log.pages === pagesPerDay) figures.daysSpent++;
      if (log.pages > pagesPerDay) violations.add(`${entry.host}: page ${log.pages} of ${pagesPerDay} of its day`);
      if (bytesPerDay === Number.POSITIVE_INFINITY) return;
      const bytes = bytesBefore(log, entry);
      if (bytes >= bytesPerDay)
        violations.add(`${entry.host}${entry.path} at ${entry.at}: ${bytes} bytes of ${bytesPerDay} of its day`);
      log.entries.push(entry);
    },
  };
}
