// How fresh can a web be at most, at so many visits a day? Equal marginal gain of all pages, by a multiplier of Lagrange (Cho and Garcia-Molina, 2003; Azar et al., 2018).
import type { Figures } from "./play.ts";
import type { Web } from "./web.ts";

const STEPS = 60; // halvings, of the multiplier and of each interval: to the last digits

/** Intervals that never end where a page is not worth a visit, unless `bounds` (days) say how often it is visited all the same. */
export function optimum(web: Web, visits: number, bounds = { minDays: 0.01, maxDays: 1e6 }): Figures {
  const pages = web.rates.length;
  const intervals = new Float64Array(pages);
  let [low, high] = [1e-9, 1e9]; // weighted days
  for (let step = 0; step < STEPS; step++) {
    const multiplier = Math.sqrt(low * high);
    let asked = 0;
    for (let page = 0; page < pages; page++) {
      intervals[page] = intervalOf(web.rates[page]!, multiplier / web.weights[page]!, bounds);
      asked += 1 / intervals[page]!;
    }
    if (asked > visits) low = multiplier;
    else high = multiplier;
  }
  const figures: Figures = { weighted: 0, plain: 0, visits: 0, oldestDays: Math.max(...intervals) };
  for (let page = 0; page < pages; page++) {
    const fresh = freshShare(web.rates[page]!, intervals[page]!);
    figures.weighted += (web.weights[page]! * fresh) / pages;
    figures.plain += fresh / pages;
    figures.visits += 1 / intervals[page]!;
  }
  return figures;
}

/** The share of an interval in which what was seen at its start is still so. */
export function freshShare(rate: number, days: number): number {
  const changes = rate * days;
  return changes < 1e-9 ? 1 : -Math.expm1(-changes) / changes;
}

/** The interval at which one more visit a day gains `gain`. */
function intervalOf(rate: number, gain: number, { minDays, maxDays }: { minDays: number; maxDays: number }): number {
  if (marginalGain(rate, maxDays) < gain) return maxDays;
  let [low, high] = [minDays, maxDays];
  for (let step = 0; step < STEPS && high - low > low * 1e-9; step++) {
    const middle = Math.sqrt(low * high);
    if (marginalGain(rate, middle) < gain) low = middle;
    else high = middle;
  }
  return high;
}

/** By its definition, apart from what the crawler computes: d/df of f / rate × (1 - exp(-rate / f)) at f = 1 / days. */
function marginalGain(rate: number, days: number): number {
  const changes = rate * days;
  if (changes < 1e-4) return (changes * days) / 2;
  return (1 - Math.exp(-changes) - changes * Math.exp(-changes)) / rate;
}
