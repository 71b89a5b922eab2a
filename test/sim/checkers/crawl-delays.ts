// Which Crawl-delay does the crawler owe a host now? That of the answers it must have taken in, the largest over http and https.
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import type { WireEntry } from "../wire.ts";
import { allowances } from "./allowance.ts";
import { hostKeyOf, isRobots, type RobotsView, robotsLedger } from "./robots-ledger.ts";

/** How long a request may take from its admission, beside the clock's error. */
const SEND_WITHIN_MS = 250;
const SCHEMES = ["http:", "https:"];

export interface CrawlDelays {
  /** Must be asked of every request, in order. In ms; 0: none. */
  owedMs(entry: WireEntry): number;
}

/**
 * A page request shows that the newest answer of its host key was taken in, as nothing but that answer allows it. Until then the
 * answer may have been lost with the worker that heard it, and the smaller delay counts: the one before, or the new one.
 * A 5xx or no answer leaves the delay as it was.
 */
export function crawlDelays(config: CrawlConfig): CrawlDelays {
  const ledger = robotsLedger(config.productToken);
  const allowanceOf = allowances(config);
  /** By host key, what the last page request showed. */
  const shown = new Map<string, number>();
  const asked = new Map<string, string[]>();

  function owedBy(hostKey: string, entry: WireEntry, proof: boolean): number {
    const leaveMs = allowanceOf(entry.host).concurrency === 1 ? 0 : SEND_WITHIN_MS + config.clockSkewMs;
    const before = shown.get(hostKey) ?? 0;
    const delay = smallest(ledger.views(hostKey, entry.at, entry.at - leaveMs));
    if (!proof) return Math.min(before, delay ?? before);
    const owed = delay ?? before;
    if (owed !== before) shown.set(hostKey, owed);
    return owed;
  }

  return {
    owedMs(entry) {
      ledger.arrived(entry);
      const own = hostKeyOf(entry);
      if (isRobots(entry)) noteKey(asked, entry.host, own);
      let owed = 0;
      for (const hostKey of asked.get(entry.host) ?? [])
        owed = Math.max(owed, owedBy(hostKey, entry, hostKey === own && !isRobots(entry)));
      return owed;
    },
  };
}

/** Undefined where no view says anything of a delay. */
function smallest(views: readonly RobotsView[]): number | undefined {
  let least: number | undefined;
  for (const { kind, text } of views) {
    if (kind === "shut") continue;
    const delay = text?.crawlDelayMs ?? 0;
    least = least === undefined ? delay : Math.min(least, delay);
  }
  return least;
}

/** Host keys of which robots.txt was asked: one or two a host. */
function noteKey(asked: Map<string, string[]>, host: string, hostKey: string): void {
  const keys = asked.get(host);
  if (keys === undefined) asked.set(host, [hostKey]);
  else if (!keys.includes(hostKey) && keys.length < SCHEMES.length) keys.push(hostKey);
}
