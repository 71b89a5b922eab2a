// For which reasons did the crawl turn away from a host? Its skip events tell of URLs refused, its fetch events of pages that are none.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FetchEvent, SkipEvent } from "../schemas/events.ts";
import { withheldReasons } from "../schemas/reasons.ts";

/** By host name, how often for each reason. `folder`: the crawl's data folder. */
export function trapStops(folder: string): Map<string, Map<string, number>> {
  const stops = new Map<string, Map<string, number>>();
  const add = (hostKey: string, reason: string, count: number): void => {
    const host = hostKey.replace(/^https?:\/\//, "");
    const reasons = stops.get(host) ?? new Map<string, number>();
    stops.set(host, reasons.set(reason, (reasons.get(reason) ?? 0) + count));
  };
  for (const { hostKey, reason, count } of eventsOf<SkipEvent>(folder, "skip")) add(hostKey, reason, count);
  const withheld: readonly string[] = withheldReasons;
  for (const { hostKey, reason } of eventsOf<FetchEvent>(folder, "fetch"))
    if (reason !== undefined && withheld.includes(reason)) add(hostKey, reason, 1);
  return stops;
}

/** Whole lines; none where the crawl did not come so far. */
function eventsOf<Event>(folder: string, kind: "fetch" | "skip"): Event[] {
  return globSync(`events/${kind}/*/*.ndjson`, { cwd: folder }).flatMap((file) => {
    const lines = readFileSync(join(folder, file), "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Event);
  });
}
