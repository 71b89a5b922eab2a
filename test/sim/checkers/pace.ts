// Did two requests come to a host closer together than it allows? robots.txt is a request like any other.
//
// One at a time: a request comes no earlier than the delay after the answer to the one before (its end, where no answer came). More
// at a time: requests arrive at least the delay apart. The delay is the one agreed to or the default, and at least the largest
// Crawl-delay of the host's robots.txt, or of the one it sends us to. No tolerance: all times are the server's; only an operator's order
// to go slower is given its 10 s.
import type { WireEntry } from "../wire.ts";
import { allowancesAt, OBEYED_MS } from "./allowance.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { crawlDelays } from "./crawl-delays.ts";
import { kept } from "./kept.ts";

interface HostLog {
  /** No answer yet, as far as was looked. */
  open: WireEntry[];
  /** The latest answer, or end without one, of the others. */
  answeredAt: number;
  arrivedAt: number;
}

const OPEN_KEPT = 64;
const NEVER = Number.NEGATIVE_INFINITY;

export function pace({ config, orders = [], storeMsMax = 0 }: SimFacts): Checker {
  const violations = new Violations();
  const allowanceOf = allowancesAt(config, orders);
  const lateMs = OBEYED_MS + storeMsMax + config.clockSkewMs;
  const delays = crawlDelays(config);
  const hosts = new Map<string, HostLog>();
  return {
    name: "pace",
    violations,
    arrived(entry) {
      const owed = delays.owedMs(entry);
      const log = kept(hosts, entry.host, newLog);
      takeUp(log, entry.at);
      const allowance = allowanceOf(entry.host, entry.at, lateMs);
      const delayMs = Math.max(allowance.delayMs, owed);
      if (allowance.concurrency > 1) {
        const gap = entry.at - log.arrivedAt;
        if (gap < delayMs) violations.add(tooClose(entry, gap, delayMs, "the request before"));
      } else if (log.open.length > 0) {
        violations.add(`${entry.host}${entry.path} at ${entry.at}: ${log.open[0]!.path} has no answer yet`);
      } else {
        const gap = entry.at - log.answeredAt;
        if (gap < delayMs) violations.add(tooClose(entry, gap, delayMs, "the answer before"));
      }
      log.arrivedAt = entry.at;
      log.open.push(entry);
      if (log.open.length > OPEN_KEPT) log.open.shift();
    },
  };
}

function newLog(): HostLog {
  return { open: [], answeredAt: NEVER, arrivedAt: NEVER };
}

function takeUp(log: HostLog, now: number): void {
  if (log.open.length === 0) return;
  log.open = log.open.filter(({ answeredAt = Number.POSITIVE_INFINITY, endedAt = Number.POSITIVE_INFINITY }) => {
    const over = Math.min(answeredAt, endedAt);
    if (over > now) return true;
    log.answeredAt = Math.max(log.answeredAt, over);
    return false;
  });
}

function tooClose({ host, path, at }: WireEntry, gapMs: number, delayMs: number, to: string): string {
  return `${host}${path} at ${at}: ${gapMs} ms after ${to}, ${delayMs} ms are owed`;
}
