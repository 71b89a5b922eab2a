// How fresh does a policy keep a web? Days of it played: the policy says whom to visit, and learns of each only whether it had changed.
import { changeRate, type Visit } from "../../../core/revisit/change-rate.ts";
import { nextInterval, remembered } from "../../../core/revisit/interval.ts";
import { seededRandom } from "../../../io/random.ts";
import { freshShare } from "./optimum.ts";
import type { Web } from "./web.ts";

/** What a crawler knows of its pages on a day. */
export interface Known {
  day: number;
  /** The day of the last visit. */
  visitedOn: Int32Array;
  /** Estimated changes a day, and the interval in days that the visits want. */
  rates: Float64Array;
  wantedDays: Float64Array;
}

/** The pages to visit on that day. */
export type Policy = (known: Known) => readonly number[];

export interface Figures {
  /** The share of time in which a page is as it was last seen, over all pages, by weight and without. */
  weighted: number;
  plain: number;
  /** A day. */
  visits: number;
  /** The longest time that a page was not visited. */
  oldestDays: number;
}

export interface Span {
  /** Days in which a policy learns, from a first fetch of all pages, and days in which it is measured. */
  burnIn: number;
  measured: number;
}

const DAY_MS = 86_400_000;

/** Freshness is expected, not drawn: t days after a visit a page is fresh with probability exp(-rate t). Changes that visits find are drawn. */
export function play(web: Web, { burnIn, measured }: Span, firstDays: number, policy: Policy): Figures {
  const pages = web.rates.length;
  const random = seededRandom(`play ${web.name}`);
  const histories: (Visit[] | undefined)[] = Array.from({ length: pages });
  const known: Known = {
    day: 0,
    visitedOn: Int32Array.from({ length: pages }, () => -1 - Math.floor(random.next() * firstDays)),
    rates: new Float64Array(pages).fill(changeRate([])),
    wantedDays: new Float64Array(pages).fill(nextInterval(undefined) / DAY_MS),
  };
  const figures: Figures = { weighted: 0, plain: 0, visits: 0, oldestDays: 0 };
  for (; known.day < burnIn + measured; known.day++) {
    const visited = policy(known);
    for (const page of visited) {
      const days = known.day - known.visitedOn[page]!;
      const changed = random.next() < -Math.expm1(-web.rates[page]! * days);
      const history = remembered(histories[page], { afterMs: days * DAY_MS, changed });
      histories[page] = history;
      known.rates[page] = changeRate(history);
      known.wantedDays[page] = nextInterval(history) / DAY_MS;
      known.visitedOn[page] = known.day;
    }
    if (known.day < burnIn) continue;
    figures.visits += visited.length / measured;
    for (let page = 0; page < pages; page++) {
      const age = known.day - known.visitedOn[page]!;
      const fresh = Math.exp(-web.rates[page]! * age) * freshShare(web.rates[page]!, 1);
      figures.weighted += (web.weights[page]! * fresh) / pages / measured;
      figures.plain += fresh / pages / measured;
      figures.oldestDays = Math.max(figures.oldestDays, age);
    }
  }
  return figures;
}
