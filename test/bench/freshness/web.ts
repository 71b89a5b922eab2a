// What web is the freshness bench played in? Pages with known change rates and weights, drawn from a seed.
import { priorityFactor } from "../../../core/revisit/score.ts";
import { seededRandom } from "../../../io/random.ts";
import type { Random } from "../../../ports/random.ts";

export interface Web {
  name: string;
  /** Changes a day of each page. */
  rates: Float64Array;
  /** 0 to 100. */
  qualities: Uint8Array;
  priorities: Float64Array;
  /** What a page's freshness counts: quality × priority, of mean 1. */
  weights: Float64Array;
  /** As a URL's: random, in base64url. */
  ids: string[];
}

type Draw = (random: Random) => number;

/** Half of the pages change less often than once in 50 days, a sixth at least once in 7, one in forty daily. */
export const logNormal: Draw = (random) => 0.02 * Math.exp(2 * normal(random));

/** The shape that the estimator's prior has: half change less often than once in 22 days, one in forty at least once in 2. */
export const gammaHalf: Draw = (random) => 0.1 * normal(random) ** 2;

/** Three kinds: nine of ten never change to speak of, one in twelve weekly, one in sixty every three hours. */
export const threeKinds: Draw = (random) => {
  const kind = random.next();
  return kind < 0.9 ? 0.001 : kind < 0.9 + 1 / 12 ? 1 / 7 : 8;
};

export function drawWeb(name: string, draw: Draw, pages: number, seed: number): Web {
  const random = seededRandom(`freshness ${seed} ${name}`);
  const web: Web = {
    name,
    rates: new Float64Array(pages),
    qualities: new Uint8Array(pages),
    priorities: new Float64Array(pages),
    weights: new Float64Array(pages),
    ids: [],
  };
  for (let page = 0; page < pages; page++) {
    web.rates[page] = draw(random);
    web.qualities[page] = 10 + Math.floor(91 * random.next());
    web.priorities[page] = priorityFactor({ kind: "page", depth: depthOf(random) });
    web.weights[page] = (web.qualities[page]! / 100) * web.priorities[page]!;
    web.ids.push(random.token());
  }
  const mean = web.weights.reduce((sum, weight) => sum + weight, 0) / pages;
  web.weights.forEach((weight, page) => {
    web.weights[page] = weight / mean;
  });
  return web;
}

/** Three times as many pages with each link, down to six. */
function depthOf(random: Random): number {
  return Math.floor(Math.log(1 + random.next() * (3 ** 7 - 1)) / Math.log(3));
}

/** Box and Muller, 1958. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
