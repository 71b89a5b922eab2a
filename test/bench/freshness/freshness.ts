// How much fresher is the whole for the same visits? Policies over webs whose change rates are known, in virtual time, beside the optimum.
import { parseArgs } from "node:util";
import { limits } from "../../../schemas/limits.ts";
import { optimum } from "./optimum.ts";
import { type Figures, play, type Span } from "./play.ts";
import { byDueTime, byScore, proportional, uniform } from "./policies.ts";
import { drawWeb, gammaHalf, logNormal, threeKinds, type Web } from "./web.ts";

const DAY_MS = 86_400_000;
const SPAN: Span = { burnIn: 180, measured: 90 };

/** Each line is a policy; `to optimum` is its weighted freshness as a share of the optimum's, both less what uniform visits reach. */
export async function benchFreshness(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      pages: { type: "string", default: "4000" },
      intervals: { type: "string", default: "10,23" },
      seed: { type: "string", default: "1" },
    },
  });
  const [pages, seed] = [Number(values.pages), Number(values.seed)];
  const webs = [
    drawWeb("log-normal rates, median 1/50 a day, sigma 2", logNormal, pages, seed),
    drawWeb("gamma rates, shape 1/2, mean 1/10 a day", gammaHalf, pages, seed),
    drawWeb("nine of ten never, 1/12 weekly, 1/60 three-hourly", threeKinds, pages, seed),
  ];
  const learnt = `after ${SPAN.burnIn} days in which each policy learns`;
  process.stdout.write(`freshness of ${pages} pages over ${SPAN.measured} days, ${learnt}; seed ${seed}\n`);
  for (const web of webs) for (const days of values.intervals.split(",").map(Number)) compare(web, days);
}

function compare(web: Web, meanDays: number): void {
  const visits = web.rates.length / meanDays;
  process.stdout.write(`\n${web.name}; each page every ${meanDays} days in the mean\n`);
  printLine("", ["weighted", "plain", "visits/day", "oldest, d", "to optimum"]);
  const bounds = { minDays: limits.revisitMsMin / DAY_MS, maxDays: limits.revisitMsMax / DAY_MS };
  const best = optimum(web, visits);
  const played = (policy: Parameters<typeof play>[3]): Figures => play(web, SPAN, meanDays, policy);
  const even = played(uniform(web, visits));
  const lines: [what: string, figures: Figures][] = [
    ["uniform", even],
    ["as often as it changes", played(proportional(web, visits))],
    ["by due time alone", played(byDueTime(web, visits))],
    ["by score, estimated rates", played(byScore(web, visits, ({ rates }) => rates))],
    ["by score, true rates", played(byScore(web, visits, () => web.rates))],
    [`optimum within ${bounds.minDays} to ${bounds.maxDays} days`, optimum(web, visits, bounds)],
    ["optimum", best],
  ];
  for (const [what, { weighted, plain, visits: made, oldestDays }] of lines) {
    const gained = (100 * (weighted - even.weighted)) / (best.weighted - even.weighted);
    const oldest = oldestDays < 1000 ? oldestDays.toFixed(0) : "-";
    printLine(what, [weighted.toFixed(3), plain.toFixed(3), made.toFixed(0), oldest, `${gained.toFixed(0)} %`]);
  }
}

function printLine(what: string, cells: readonly string[]): void {
  process.stdout.write(`${what.padEnd(32)}${cells.map((cell) => cell.padStart(12)).join("")}\n`);
}
