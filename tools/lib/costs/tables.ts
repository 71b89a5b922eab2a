// What is printed of the bills: a table of services by size, and one of what each choice changes.
import { type Bill, billOf, services, sumOf } from "./bill.ts";
import { type Choices, usual } from "./flows.ts";
import type { Plan } from "./plan.ts";
import type { PriceList } from "./prices.ts";

/** A size with its bills: everything running for the peak all day, and scaled down to the mean. */
export interface Priced {
  plan: Plan;
  peak: Bill;
  mean: Bill;
}

export function pricedOf(plan: Plan, { prices }: Pick<PriceList, "prices">): Priced {
  return { plan, peak: billOf(plan, prices, usual), mean: billOf(plan, prices, { ...usual, running: "mean" }) };
}

export function perMillion(usdPerDay: number, { fetchesPerDay }: Plan): number {
  return usdPerDay / (fetchesPerDay / 1e6);
}

/** Behind whatever rests on a price that is not verified. */
const MARK = " *";

/** Markdown; for each size dollars a day and a million pages. */
export function costTable(sizes: readonly Priced[], { verified }: PriceList): string {
  const row = (name: string, usd: (size: Priced) => number): string[] => [
    name,
    ...sizes.flatMap((size) => [dollars(usd(size)), dollars(perMillion(usd(size), size.plan))]),
  ];
  const unverified = services.filter((service) =>
    sizes.some(({ plan, peak }) => billOf(plan, verified, usual)[service] !== peak[service]),
  );
  return markdown(
    ["US dollars", ...sizes.flatMap(({ plan }) => [`${plan.fetchesPerDay.toLocaleString("en")} pages a day`, "a million"])],
    [
      ...services.map((service) =>
        row(unverified.includes(service) ? `${service}${MARK}` : service, ({ peak }) => peak[service]),
      ),
      row("**Sum**, all running for the peak", ({ peak }) => sumOf(peak)),
      row("**Sum**, scaled down to the mean", ({ mean }) => sumOf(mean)),
    ],
  );
}

/** What else may be chosen; all that is not named stays as usual. */
const levers: readonly { name: string; choices: Partial<Choices> }[] = [
  { name: "workers and nodes scaled down to the mean", choices: { running: "mean" } },
  { name: "an address for each worker, no NAT", choices: { addressPerWorker: true } },
  { name: "no documents", choices: { documents: false } },
  { name: "no Streaming Engine, larger disks instead", choices: { streamingEngine: false } },
  { name: "days are not closed, objects stay small", choices: { closedDays: false } },
  { name: "on day 30, not after a year", choices: { crawlDays: 30 } },
  { name: "after three years", choices: { crawlDays: 3 * 365 } },
  { name: "after three years, pages deleted after one", choices: { crawlDays: 3 * 365, pagesDeletedDays: 365 } },
];

export interface Lever {
  name: string;
  /** US dollars a million pages that are added to the sum for the peak, by size in order. */
  usdPerMillion: number[];
  /** Whether they rest on prices that are not verified. */
  marked: boolean;
}

export function leversOf(sizes: readonly Priced[], { prices, verified }: PriceList): Lever[] {
  const changed = ({ plan }: Priced, choices: Partial<Choices>, by: PriceList["prices"]): number =>
    perMillion(sumOf(billOf(plan, by, { ...usual, ...choices })) - sumOf(billOf(plan, by, usual)), plan);
  return levers.map(({ name, choices }) => {
    const usdPerMillion = sizes.map((size) => changed(size, choices, prices));
    const sure = sizes.map((size) => changed(size, choices, verified));
    return { name, usdPerMillion, marked: usdPerMillion.some((usd, at) => dollars(usd) !== dollars(sure[at]!)) };
  });
}

/** Markdown; dollars a million pages. */
export function leverTable(sizes: readonly Priced[], found: readonly Lever[]): string {
  return markdown(
    ["US dollars a million pages", ...sizes.map(({ plan }) => `${plan.fetchesPerDay.toLocaleString("en")} pages a day`)],
    found.map(({ name, usdPerMillion, marked }) => [
      marked ? `${name}${MARK}` : name,
      ...usdPerMillion.map((usd) => `${usd > 0 ? "+" : ""}${dollars(usd)}`),
    ]),
  );
}

/** Three digits are all that such figures have; cents where there are less than ten dollars. */
function dollars(usd: number): string {
  const size = Math.abs(usd);
  if (size >= 100) return Number(usd.toPrecision(3)).toLocaleString("en");
  return size >= 10 ? usd.toFixed(1) : usd.toFixed(2).replace(/^-0\.00$/, "0.00");
}

function markdown(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((cells) => cells[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text, at) => (at === 0 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!))).join(" | ")} |`;
  const rule = `| ${widths.map((width, at) => (at === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}
