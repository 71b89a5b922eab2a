// How often does a page change? The rate of a Poisson process from visits at irregular intervals, each of which tells only whether there was a change.
import { limits } from "../../schemas/limits.ts";

export interface Visit {
  /** Since the visit before. */
  afterMs: number;
  changed: boolean;
}

/** What is held of a page before its first revisit: a Gamma distribution of its rate, with mean shape / days. */
export interface RatePrior {
  shape: number;
  days: number;
}

const DAY_MS = 86_400_000;

/** Below 1: most pages hardly ever change and a few do all the time. Half a visit's worth of evidence, so that visits soon outweigh it. */
const SHAPE = 0.5;

/** A page of which nothing is known changes within the first interval with probability 1/2. */
export const usualPages: RatePrior = { shape: SHAPE, days: (SHAPE * limits.revisitMsFirst) / DAY_MS / Math.LN2 };

/** Records keep whole hours: an interval that they round to none took a quarter of an hour in the mean. */
const VISIT_DAYS_MIN = 1 / 96;

/** Newton's steps come from below and never pass the root; 200,000 random histories took ten at most. */
const STEPS_MAX = 24;
const PRECISION = 1e-9;

/**
 * Changes a day, positive and finite. With visits after t[i] days the likelihood is the product of 1 - exp(-rate t[i]) over those that found
 * a change, and of exp(-rate t[i]) over the others (Cho and Garcia-Molina, Estimating frequency of change, 2003, on irregular access). Taken times
 * the prior, it is greatest over the logarithm of the rate where
 *
 *     sum over changed of t[i] / (exp(rate t[i]) - 1)  +  shape / rate  =  sum over unchanged of t[i]  +  days.
 *
 * The left side falls with the rate, so there is one root; a history of changes alone, or of none, has one as well. Linear in the history.
 */
export function changeRate(history: readonly Visit[], prior: RatePrior = usualPages): number {
  let unchangedDays = prior.days;
  const changedDays: number[] = [];
  for (const { afterMs, changed } of history) {
    const days = Math.max(VISIT_DAYS_MIN, afterMs / DAY_MS);
    if (changed) changedDays.push(days);
    else unchangedDays += days;
  }
  let rate = lowerBound(prior, unchangedDays, changedDays);
  if (changedDays.length === 0) return rate;
  for (let step = 0; step < STEPS_MAX; step++) {
    let excess = prior.shape / rate - unchangedDays;
    let slope = -prior.shape / rate ** 2;
    for (const days of changedDays) {
      const odds = 1 / Math.expm1(rate * days);
      excess += days * odds;
      slope -= days ** 2 * odds * (1 + odds);
    }
    const by = -excess / slope;
    rate += by;
    if (!(by > rate * PRECISION)) break;
  }
  return rate;
}

/** Of the root, without changes the root itself: 1 / (exp(x) - 1) is more than 0 and more than 1 / x - 1 / 2. */
function lowerBound({ shape }: RatePrior, unchangedDays: number, changedDays: readonly number[]): number {
  const days = changedDays.reduce((sum, each) => sum + each, 0);
  return Math.max(shape / unchangedDays, (shape + changedDays.length) / (unchangedDays + days / 2));
}
