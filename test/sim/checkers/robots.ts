// Was a page asked for that robots.txt, as the crawler then knew it, did not allow? RFC 9309 2.2.2, 2.3.1 and 2.4.
import type { WireEntry } from "../wire.ts";
import { allowances } from "./allowance.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { hostKeyOf, isRobots, type RobotsView, robotsLedger } from "./robots-ledger.ts";

/** A request leaves within this time of its admission, by a clock that may lag by the stated error. */
const SEND_WITHIN_MS = 250;
const DAY_MS = 86_400_000;

/**
 * The tolerances, and no more:
 * - A host with one request at a time: none. A page that is under way keeps robots.txt from being asked for.
 * - With more at a time, a page that arrives within 250 ms and the clock's error of a request for robots.txt may have been admitted
 *   before it, and is judged by the answer before as well.
 * - An answer counts for 24 h, told by the clock of one worker and read by another's (twice the error), beside the 250 ms and the
 *   error that a request may take to leave.
 */
export function robots({ config }: SimFacts): Checker {
  const violations = new Violations();
  const allowanceOf = allowances(config);
  const ledger = robotsLedger(config.productToken);
  const leaveMs = SEND_WITHIN_MS + config.clockSkewMs;
  const freshMs = DAY_MS + leaveMs + 2 * config.clockSkewMs;
  return {
    name: "robots",
    violations,
    arrived(entry) {
      ledger.arrived(entry);
      if (isRobots(entry)) return;
      const admittedAt = entry.at - (allowanceOf(entry.host).concurrency === 1 ? 0 : leaveMs);
      const why = refusal(ledger.views(hostKeyOf(entry), entry.at, admittedAt), entry, freshMs);
      if (why !== undefined) violations.add(`${hostKeyOf(entry)}${entry.path} at ${entry.at}: ${why}`);
    },
  };
}

/** Why none of the views allows the request; what the newest says, where there are several. */
function refusal(views: readonly RobotsView[], { path, at }: WireEntry, freshMs: number): string | undefined {
  if (views.length === 0) return "robots.txt was not answered yet";
  let first: string | undefined;
  for (const view of views) {
    const why = refusalOf(view, path, at - view.since, freshMs);
    if (why === undefined) return undefined;
    first ??= why;
  }
  return first;
}

function refusalOf(view: RobotsView, path: string, ageMs: number, freshMs: number): string | undefined {
  if (view.kind === "shut") return `robots.txt could not be had ${ageMs} ms ago`;
  if (ageMs > freshMs) return `robots.txt is ${ageMs} ms old`;
  if (view.text?.forbids(path)) return `robots.txt of ${ageMs} ms ago forbids it`;
  return undefined;
}
