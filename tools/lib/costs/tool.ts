// What does npm run costs take, do and say? What a million pages cost at each size, and from which prices, figures and assumptions.
import { exitCodes } from "../../../pipelines/exit-codes.ts";
import { UsageError } from "../../../pipelines/options.ts";
import { commonFlags, flagsOf, type Told, toldError } from "../command.ts";
import { services, sumOf } from "./bill.ts";
import { assumed, type Figure, measured } from "./figures.ts";
import { type Plan, planOf, readSizes, sizesIn } from "./plan.ts";
import { NOT_VERIFIED, type Price, type PriceList, readPrices } from "./prices.ts";
import { costTable, type Lever, leversOf, leverTable, type Priced, perMillion, pricedOf } from "./tables.ts";

const FETCHES_MIN = 1_000; // below it every size is its two workers
const FETCHES_MAX = 100_000_000_000; // a hundred times the largest size: beyond it the figures say nothing

const help = `What a day and a million pages cost in Google Cloud, by size and service, computed from measured figures and a dated price list.

  npm run costs                             the sizes of terraform/environments/sizes.json
  npm run costs -- --fetches-per-day N      and one more, its nodes and workers by the same figures
  npm run costs -- --json                   one object on stdout: bills, prices, figures, assumptions

  --fetches-per-day N   a whole number, ${FETCHES_MIN.toLocaleString("en")} to ${FETCHES_MAX.toLocaleString("en")}
  --json                amounts in US dollars, not rounded
  -h, --help

Exit codes: ${exitCodes.done} done, ${exitCodes.badUsage} bad usage, ${exitCodes.fault} an error of ours.
`;

const flags = { json: commonFlags.json, help: commonFlags.help, "fetches-per-day": { type: "string" } } as const;

/** Never throws. */
export function runCosts(args: readonly string[]): Told {
  try {
    const asked = parsed(args);
    if (asked === "help") return { code: exitCodes.done, stdout: help, stderr: "" };
    const stdout = asked.json ? JSON.stringify(jsonOf(report(asked.more))) : textOf(report(asked.more));
    return { code: exitCodes.done, stdout: `${stdout}\n`, stderr: "" };
  } catch (error) {
    return toldError("costs", error);
  }
}

function parsed(args: readonly string[]): "help" | { json: boolean; more: number[] } {
  const { values, positionals } = flagsOf("costs", args, flags);
  if (values.help) return "help";
  if (positionals.length > 0) throw usage(`no argument is expected, not '${positionals[0]}'`);
  const given = values["fetches-per-day"];
  return { json: values.json ?? false, more: given === undefined ? [] : [fetchesOf(given)] };
}

function fetchesOf(given: string): number {
  const fetches = Number(given);
  if (!/^\d{1,15}$/.test(given) || fetches < FETCHES_MIN || fetches > FETCHES_MAX)
    throw usage(`--fetches-per-day needs a whole number from ${FETCHES_MIN} to ${FETCHES_MAX}, not '${given}'`);
  return fetches;
}

function usage(message: string): UsageError {
  return new UsageError(`${message}; npm run costs -- --help tells more`);
}

interface Report {
  sizes: Priced[];
  levers: Lever[];
  priceList: PriceList;
}

/** From the smallest size to the largest. */
function report(more: readonly number[]): Report {
  const priceList = readPrices();
  const file = readSizes();
  const all = [...new Set([...sizesIn(file), ...more])].sort((one, other) => one - other);
  const sizes = all.map((fetches) => pricedOf(planOf(fetches, file), priceList));
  return { sizes, levers: leversOf(sizes, priceList), priceList };
}

function textOf({ sizes, levers, priceList }: Report): string {
  const { list } = priceList;
  return [
    costTable(sizes, priceList),
    `What a choice changes, of the sum for the peak\n\n${leverTable(sizes, levers)}`,
    "* rests on prices that are not verified, which stand marked below",
    `Paid for\n${sizes.map(({ plan }) => provision(plan)).join("\n")}`,
    `Assumed\n${figureLines(assumed)}`,
    `Measured\n${figureLines(measured)}`,
    `Prices in US dollars, of ${datesOf(list)}\n${list.map(priceLine).join("\n")}`,
  ].join("\n\n");
}

function provision({ fetchesPerDay, nodes, workers, vcpusPerWorker, memoryGibPerWorker, addresses }: Plan): string {
  const mean = workers.mean.toLocaleString("en", { maximumFractionDigits: 1 });
  return `  ${fetchesPerDay.toLocaleString("en").padStart(15)} a day: Bigtable nodes ${nodes.peak} (mean ${nodes.mean}), workers ${workers.peak} (mean ${mean}) of ${vcpusPerWorker} vCPU and ${memoryGibPerWorker} GiB, NAT addresses ${addresses}`;
}

function figureLines(figures: Readonly<Record<string, Figure>>): string {
  return Object.entries(figures)
    .map(([name, { value, unit, from }]) => `  ${name.padEnd(22)}${value.toLocaleString("en").padStart(9)} ${unit}; ${from}`)
    .join("\n");
}

function priceLine({ name, usd, per, region, source, date }: Price): string {
  const mark = source === NOT_VERIFIED ? "NOT VERIFIED" : source;
  return `  ${name.padEnd(28)}${String(usd).padStart(9)} a ${per}, ${region}; ${mark}, ${date}`;
}

/** From the oldest to the newest. */
function datesOf(list: readonly Price[]): string {
  const dates = list.map(({ date }) => date).sort();
  return `${dates[0]} to ${dates.at(-1)}`;
}

function jsonOf({ sizes, levers, priceList }: Report): object {
  return {
    sizes: sizes.map(({ plan, peak, mean }) => ({
      ...plan,
      services: services.map((service) => ({
        service,
        usdPerDay: peak[service],
        usdPerMillion: perMillion(peak[service], plan),
      })),
      sums: { peak: sumsOf(sumOf(peak), plan), mean: sumsOf(sumOf(mean), plan) },
    })),
    levers,
    assumed,
    measured,
    prices: priceList.list,
  };
}

function sumsOf(usdPerDay: number, plan: Plan): { usdPerDay: number; usdPerMillion: number } {
  return { usdPerDay, usdPerMillion: perMillion(usdPerDay, plan) };
}
