// Which ways to choose the pages of a day are compared? Uniform, in proportion to change, by due time alone, and by crawl score.
import { addScore, emptyScores, passes, thresholdFor, wantMore } from "../../../core/revisit/day-scores.ts";
import { spreadOf } from "../../../core/revisit/plan.ts";
import { crawlScore, freshnessNeed } from "../../../core/revisit/score.ts";
import type { Known, Policy } from "./play.ts";
import type { Web } from "./web.ts";

const DAY_MS = 86_400_000;

/** Each page as often as any other. */
export function uniform(web: Web, visits: number): Policy {
  return byCredit(web, () => visits / web.rates.length);
}

/** As often as it changes, with the true rates: what seems right, and is not. */
export function proportional(web: Web, visits: number): Policy {
  let [low, high] = [0, 1e6];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (web.rates.reduce((sum, rate) => sum + Math.min(1, rate * middle), 0) < visits) low = middle;
    else high = middle;
  }
  return byCredit(web, (page) => Math.min(1, web.rates[page]! * high));
}

/** Visits at even intervals, from a place of each page's own in the first of them. */
function byCredit(web: Web, visitsADay: (page: number) => number): Policy {
  const credit = Float64Array.from(web.ids, (id) => spreadOf(id, 0));
  return () =>
    chosen(web, (page) => {
      credit[page]! += visitsADay(page);
      if (credit[page]! < 1) return false;
      credit[page]! -= 1;
      return true;
    });
}

/** What the stream does without the daily pipeline: who wants a visit gets one, the longest overdue first, until the day is full. */
export function byDueTime(web: Web, visits: number): Policy {
  return ({ day, visitedOn, wantedDays }) => {
    const dueOn = (page: number): number => visitedOn[page]! + wantedDays[page]!;
    const due = chosen(web, (page) => dueOn(page) < day + 0.5);
    return due.sort((one, other) => dueOn(one) - dueOn(other)).slice(0, Math.round(visits));
  };
}

/** What the daily pipeline does. `ratesOf`: by which rates; the estimated ones, or, to see what knowing them would be worth, the true ones. */
export function byScore(web: Web, visits: number, ratesOf: (known: Known) => Float64Array): Policy {
  const scores = new Float64Array(web.rates.length);
  return (known) => {
    const { day, visitedOn, wantedDays } = known;
    const rates = ratesOf(known);
    const ofDay = emptyScores();
    for (let page = 0; page < scores.length; page++) {
      const need = freshnessNeed(rates[page]!, day - visitedOn[page]!);
      scores[page] = crawlScore({ quality: web.qualities[page], need, priority: web.priorities[page]!, cost: 1 });
      addScore(ofDay, scores[page]!, wantedDays[page]! * DAY_MS);
    }
    const threshold = wantMore(ofDay, visits) ? thresholdFor(ofDay, visits) : undefined;
    return chosen(web, (page) =>
      threshold === undefined
        ? day - visitedOn[page]! + 0.5 > wantedDays[page]!
        : passes(scores[page]!, threshold, spreadOf(web.ids[page]!, day * DAY_MS)),
    );
  };
}

function chosen(web: Web, isChosen: (page: number) => boolean): number[] {
  const pages: number[] = [];
  for (let page = 0; page < web.rates.length; page++) if (isChosen(page)) pages.push(page);
  return pages;
}
