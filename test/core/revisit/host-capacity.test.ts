import assert from "node:assert/strict";
import { test } from "node:test";
import { type HostAllowance, revisitsPerDay } from "../../../core/revisit/host-capacity.ts";

const usual: HostAllowance = {
  delayMs: 1000,
  latencyMs: 200,
  concurrency: 1,
  latencyFactor: 1,
  dayBudget: { pagesPerDay: 86_400, bytesPerDay: 16 * 2 ** 30 },
  bodyBytes: 100_000,
  undiscovered: 0,
};

const table: [situation: string, change: Partial<HostAllowance>, visits: number][] = [
  ["a second's delay and 200 ms of latency", {}, 72_000],
  ["an answer that takes longer than the delay is waited for twice", { latencyMs: 2000 }, 21_600],
  ["a Crawl-delay of a minute", { delayMs: 60_000, latencyMs: 0 }, 1440],
  ["a budget of pages", { dayBudget: { pagesPerDay: 500, bytesPerDay: 16 * 2 ** 30 } }, 500],
  ["a budget of bytes", { dayBudget: { pagesPerDay: 86_400, bytesPerDay: 50_000_000 } }, 500],
  ["a budget of bytes and bodies of which nothing is known", { bodyBytes: 0 }, 72_000],
  ["four requests at once, spaced", { concurrency: 4, latencyMs: 8000 }, 43_200],
  ["no delay and no latency: the pages of a day", { delayMs: 0, latencyMs: 0 }, 86_400],
  ["a hundred new pages come first", { undiscovered: 100 }, 71_900],
  ["a million new pages leave half", { undiscovered: 1_000_000 }, 36_000],
  ["a Crawl-delay of two days: none", { delayMs: 2 * 86_400_000 }, 0],
];
for (const [situation, change, visits] of table)
  test(`revisits of a day, ${situation}: ${visits}`, () => {
    assert.equal(revisitsPerDay({ ...usual, ...change }), visits);
  });
