// What came of a crawl of the demo's web, and was it polite? Told alike wherever it ran, so that two such crawls can be compared.
import assert from "node:assert/strict";
import { DELAY_MS } from "../../demo/crawl.ts";
import { demoFaults } from "../../demo/web/judge.ts";
import type { DemoWeb } from "../../demo/web/start.ts";
import type { FetchEvent, SkipEvent } from "../../schemas/events.ts";
import { beforeRetryAfter, beforeRobots, concurrencyMax, smallestGapMs } from "./judge.ts";

export interface DemoCame {
  attempts: string[];
  refusals: string[];
  turnedAway: string[];
}

/** Of sites without an end which pages were seen is chance: the first that came, and a sample. Of the others all is told. */
export function whatCameOf(web: DemoWeb, fetches: readonly FetchEvent[], skips: readonly SkipEvent[]): DemoCame {
  const endless = web.sites.filter(({ expected }) => expected.endless !== undefined).map(({ host }) => host);
  const isEndless = (url: string): boolean => endless.some((host) => new URL(url).hostname === host);
  const attempts = fetches
    .filter(({ url }) => !isEndless(url))
    .map(({ url, kind, outcome, status = 0, reason = "" }) => `${kind} ${url} ${outcome} ${status} ${reason}`);
  const refusals = skips
    .filter(({ hostKey }) => !isEndless(hostKey))
    .map(({ hostKey, reason, source }) => `${hostKey} ${reason} ${source}`);
  const turnedAway = skips.filter(({ hostKey }) => isEndless(hostKey)).map(({ hostKey, reason }) => `${hostKey} ${reason}`);
  // How often a host that is down is tried depends on how long the crawl takes.
  return { attempts: unique(attempts), refusals: unique(refusals), turnedAway: unique(turnedAway) };
}

/** Judged from the server's log alone: what each site expects was done, and each had its pauses. */
export function assertAsExpected(web: DemoWeb): void {
  assert.deepEqual(demoFaults(web.sites, web.log, { sitemaps: true }), []);
  for (const { host, handler } of web.sites) {
    if (handler === undefined) continue;
    const gapMs = smallestGapMs(web.log, host).answerToStart;
    assert.ok(gapMs >= DELAY_MS, `${host}: ${gapMs} ms`);
    assert.equal(concurrencyMax(web.log, host), 1, host);
    assert.deepEqual(beforeRobots(web.log, host), [], host);
    assert.deepEqual(beforeRetryAfter(web.log, host), [], host);
  }
}

function unique(lines: readonly string[]): string[] {
  return [...new Set(lines)].sort();
}
