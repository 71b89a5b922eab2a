import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  addScore,
  emptyScores,
  noThreshold,
  passes,
  type ScoreThreshold,
  scoreAt,
  thresholdFor,
} from "../../../core/revisit/day-scores.ts";
import { nextInterval } from "../../../core/revisit/interval.ts";
import { isMoved, type PlannedUrl, type RevisitFacts, revisitPlan, revisitWish, spreadOf } from "../../../core/revisit/plan.ts";
import { outcomes } from "../../../schemas/reasons.ts";
import { DAY, visits } from "./given.ts";

const TODAY = Date.UTC(2026, 10, 30);

/** A page of middling worth, with score 1 / 2 × its need. */
const facts: RevisitFacts = { dayAt: TODAY, quality: 50, bodyBytes: 200_000, latencyMs: 1000 };

function page(change: Partial<PlannedUrl> & { history?: string; agoDays?: number } = {}): PlannedUrl {
  const { history = "7- 7+", agoDays = 3, ...fields } = change;
  const lastFetchAt = TODAY - agoDays * DAY;
  const [kind, depth, priority, lastOutcome, failureCount] = ["page", 3, 2, "fetched", 0] as const;
  const nextFetchAt = lastFetchAt + 7 * DAY;
  return {
    kind,
    depth,
    priority,
    lastOutcome,
    failureCount,
    nextFetchAt,
    lastFetchAt,
    changeHistory: visits(history),
    ...fields,
  };
}

function planned(url: PlannedUrl, threshold?: ScoreThreshold, more: Partial<RevisitFacts> & { commonDaysOf?: string } = {}) {
  const { commonDaysOf, ...other } = more;
  const wish = revisitWish(url, { ...facts, ...other });
  assert.ok(wish !== undefined);
  const budget = { threshold, spread: 0.5, ...(commonDaysOf === undefined ? {} : { commonDaysOf }) };
  const plan = revisitPlan(url, { ...facts, ...other }, wish, budget);
  return { ...plan, wish, afterDays: (plan.nextFetchAt - url.lastFetchAt!) / DAY };
}

/** What a page of that score passes, and nothing below. */
function thresholdAt(score: number): ScoreThreshold {
  return { ...thresholdFor(addScore(emptyScores(), score, DAY), 0.5), share: 1 };
}

test("with room for all, a page is visited when its changes want it, as the stream has it", () => {
  const url = page();
  const { afterDays, reason, wish } = planned(url);
  assert.equal(reason, "wanted");
  assert.equal(afterDays * DAY, nextInterval(url.changeHistory));
  assert.equal(wish.tier, "B");
});

test("a page that was never visited again is wanted after a week", () => {
  const { changeHistory: _, ...url } = page();
  assert.equal(planned(url).afterDays, 7);
});

test("a page that is overdue is due as the day begins", () => {
  assert.equal(planned(page({ agoDays: 25 })).nextFetchAt, TODAY);
});

const notPlanned: [situation: string, change: Partial<PlannedUrl>][] = [
  ["never fetched", { lastFetchAt: undefined as never }],
  ["failed since", { failureCount: 1, priority: 1 }],
  ["put away", { lastOutcome: "gone", priority: 3 }],
  ...outcomes
    .filter((outcome) => outcome !== "fetched" && outcome !== "unchanged")
    .map((lastOutcome): [string, Partial<PlannedUrl>] => [lastOutcome, { lastOutcome }]),
];
for (const [situation, change] of notPlanned)
  test(`what is no page to revisit stays due when its completion said: ${situation}`, () => {
    assert.equal(revisitWish(page(change), facts), undefined);
  });

test("a page fetched since the day began has no score for it", () => {
  assert.equal(planned(page({ agoDays: -0.5 })).wish.score, undefined);
  assert.ok(planned(page({ agoDays: 0.01 })).wish.score! > 0);
});

test("where the day is full, a page whose score passes is due within it, a day after its last visit at least", () => {
  const { wish } = planned(page());
  const passing = planned(page(), thresholdAt(wish.score! / 2));
  assert.deepEqual([passing.reason, passing.nextFetchAt], ["within-budget", TODAY]);
  assert.equal(planned(page({ agoDays: 0.5 }), noThreshold).nextFetchAt, TODAY + DAY / 2);
});

test("one whose score does not pass is due on the day on which it does", () => {
  const { wish } = planned(page());
  const threshold = thresholdAt(wish.score! * 2);
  const { nextFetchAt, reason } = planned(page(), threshold);
  assert.equal(reason, "over-budget");
  assert.ok(nextFetchAt > TODAY + DAY && nextFetchAt < TODAY + 30 * DAY);
  const then = revisitWish(page(), { ...facts, dayAt: nextFetchAt - DAY / 2 });
  assert.ok(Math.abs(then!.score! / scoreAt(threshold) - 1) < 1e-3);
});

test("one that will not pass for long is looked at again in a month", () => {
  for (const agoDays of [1, 40]) assert.equal(planned(page({ agoDays }), thresholdAt(5000)).nextFetchAt, TODAY + 30 * DAY);
});

test("copies of another page come later, by their factor, and count less", () => {
  const [own, copy] = [planned(page()), planned(page(), undefined, { laterBy: 2 })];
  assert.equal(copy.afterDays, own.afterDays * 2);
  assert.equal(copy.wish.score, own.wish.score! / 4);
  assert.equal(planned(page({ history: "20- 30-" }), undefined, { laterBy: 3 }).afterDays, 30);
});

test("pages of a small host that want visits in the same days are visited at the same time", () => {
  const starts = [16, 16.5, 17, 17.5].map((agoDays) => {
    const url = page({ history: "20- 30-", agoDays });
    return planned(url, undefined, { commonDaysOf: "small.test" }).nextFetchAt;
  });
  assert.ok(new Set(starts).size <= 2);
});

const urls = fc.record({
  history: fc.array(
    fc.record({ afterMs: fc.integer({ min: 1, max: 720 }).map((hours) => (hours * DAY) / 24), changed: fc.boolean() }),
    {
      maxLength: 16,
    },
  ),
  agoDays: fc.double({ min: -1, max: 400, noNaN: true }),
  depth: fc.nat(64),
  quality: fc.option(fc.nat(100), { nil: undefined }),
});

test("every plan lies 1 to 30 days after the last visit or ahead of the day, and is the same when asked again", () => {
  const thresholds = fc.option(fc.double({ min: 1e-6, max: 1e4, noNaN: true }), { nil: undefined });
  fc.assert(
    fc.property(urls, thresholds, fc.boolean(), ({ history, agoDays, depth, quality }, score, small) => {
      const url = page({ changeHistory: history, agoDays: Math.round(agoDays * 24) / 24, depth });
      const threshold = score === undefined ? undefined : thresholdAt(score);
      const more = { quality, ...(small ? { commonDaysOf: "small.test" } : {}) };
      const plan = planned(url, threshold, more);
      const from = Math.max(url.lastFetchAt!, TODAY);
      assert.ok(plan.nextFetchAt >= TODAY && plan.nextFetchAt <= from + 30 * DAY);
      // Of a small host the days are counted, not the two hours that its pages have their turns in.
      assert.ok(plan.afterDays >= (small ? 22 / 24 : 1));
      assert.deepEqual(planned(url, threshold, more), plan);
    }),
  );
});

test("a plan is worth a write where it moves a visit by a day and a quarter of its wait, and not within the day that is planned", () => {
  const moved = (storedDays: number, planDays: number) => {
    const url = page({ agoDays: 10, nextFetchAt: TODAY + storedDays * DAY });
    return isMoved(url, { nextFetchAt: TODAY + planDays * DAY, reason: "wanted" }, TODAY);
  };
  assert.equal(moved(-20, 0.9), false);
  assert.equal(moved(0.5, 1.5), false);
  assert.equal(moved(0.5, 10), true);
  assert.equal(moved(10, 13), false);
  assert.equal(moved(10, 0), true);
  assert.equal(moved(20, 10), true);
});

test("spreads are even over ids, and drawn anew each day", () => {
  const ids = Array.from({ length: 4096 }, (_, id) => Buffer.from([id >> 4, (id & 15) << 4, 0, 0]).toString("base64url"));
  for (const dayAt of [TODAY, TODAY + DAY]) {
    const below = ids.filter((id) => spreadOf(id, dayAt) < 0.25).length;
    assert.ok(below > 900 && below < 1150, String(below));
  }
  const both = ids.filter((id) => spreadOf(id, TODAY) < 0.25 && spreadOf(id, TODAY + DAY) < 0.25).length;
  assert.ok(both > 180 && both < 340, String(both));
  assert.equal(spreadOf("", TODAY), spreadOf("", TODAY));
  assert.ok(passes(1, { bin: 384, share: 1 }, 0.999));
});
