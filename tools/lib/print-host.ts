// How is what is known of one host put for people? The verdict first, its evidence after it.
import type { Because, Verdict } from "../../core/frontier/explain.ts";
import { priorities } from "../../schemas/url-state.ts";
import { clockLines, robotsLine } from "./print-clock.ts";
import { className, eventLine } from "./print-url.ts";
import { type DueClass, type HostView, SETTLED_MAX } from "./read-host.ts";
import type { BudgetView } from "./read-traps.ts";
import { counted, row, rows, shown, when } from "./words.ts";

export function printedHost(view: HostView): string {
  const { at, clock, robots, failures, explanation, paceKey } = view;
  const headline = `${paceKey}: ${explanation.verdict.replace("-host", " host")}. ${sentence(view)}`;
  if (explanation.verdict === "unknown-host") return headline;
  return [
    headline,
    ...(explanation.at === undefined ? [] : [row("next turn", turnOf(explanation.at, at))]),
    ...(explanation.url === undefined ? [] : [row("first in line", shown(explanation.url))]),
    ...rows(
      "due",
      view.due.filter(({ count }) => count > 0).map((each) => dueLine(each, at)),
    ),
    ...rows("ended as", settledLines(view)),
    ...rows("clock", clockLines(clock, at)),
    row("today (UTC)", budgetLine(view.budget)),
    ...(view.pagesLeft === undefined ? [] : [row("pages left", `${Math.max(0, view.pagesLeft)} of the crawl's --max-pages`)]),
    ...rows(
      "robots",
      robots.map((each) => `${each.hostKey}: ${robotsLine(each, at)}`),
    ),
    ...rows("traps", trapLines(view)),
    ...rows(
      "last failures",
      failures.map((event) => `${shown(event.url)} ${eventLine(event, at)}`),
    ),
    ...(view.eventsComplete ? [] : [row("", "older events were not looked at")]),
  ].join("\n");
}

function sentence({ explanation, running, inScope }: HostView): string {
  const idle = running === false && waits[explanation.verdict] ? " No crawl is running on this folder." : "";
  const scope = explanation.verdict === "unknown-host" && !inScope ? " It is outside the crawl's scope." : "";
  const isDown = explanation.verdict === "failing" && explanation.because === "robots-unreachable";
  const reason = isDown ? "It cannot be reached: not even its robots.txt could be had." : reasons[explanation.because];
  return `${reason}${scope}${idle}`;
}

/** Verdicts after which a reader would wait for something to happen. */
const waits: Record<Verdict, boolean> = {
  "politeness-bound": true,
  "robots-bound": true,
  failing: true,
  budget: false,
  paused: false,
  idle: false,
  "unknown-host": false,
};

const reasons: Record<Because, string> = {
  turn: "URLs are due, and its clock decides when the next request may start.",
  "in-flight": "A request to it is under way; the next one waits for its end.",
  "rest-asked": "It asked for rest (429 or Retry-After), which it gets.",
  backoff: "It failed, and is left alone for a while that doubles with each failure.",
  retry: "What is pending failed before and waits for its retry.",
  "given-up": "All its URLs failed until their retries were spent.",
  address: "Its name leads to addresses that the guard refuses; --allow-address admits them.",
  "robots-forbidden": "robots.txt forbids all that is known of it.",
  "robots-unreachable": "Its robots.txt cannot be had, which forbids everything until it can.",
  "robots-deferred": "It put off the request for robots.txt; until then nothing is asked.",
  "host-page-limit": "It has had all its pages: --max-pages-per-host, or pagesMax of its policy.",
  "host-day-budget": "It has given its pages or bytes of this UTC day: limits.pagesPerDay and bytesPerDay of its policy.",
  "page-limit": "The crawl has had all its pages: --max-pages.",
  paused: "A policy or an operator paused it.",
  moved: "Its clock was moved to another one.",
  "nothing-pending": "Nothing is pending; its URLs wait for their revisits.",
  "never-seen": "No record tells of it: no seed, link, sitemap or redirect led there.",
};

function turnOf(turnAt: number, now: number): string {
  return turnAt <= now ? "as soon as a crawl takes it" : when(turnAt, now);
}

function dueLine({ priority, count, more, firstDueAt = 0 }: DueClass, now: number): string {
  const first = firstDueAt <= now ? `due since ${when(firstDueAt, now)}` : `first due ${when(firstDueAt, now)}`;
  return `${more ? "more than " : ""}${counted(count, "URL")}, ${className(priority)}; ${first}`;
}

function settledLines({ settled, due }: HostView): string[] {
  const ends = Object.entries(settled).sort(([, a], [, b]) => b.count - a.count);
  const cut = due.some(({ count, priority }) => priority > priorities.discovery && count > SETTLED_MAX);
  const lines = ends.map(([outcome, { count, example }]) => `${outcome} ${count}, such as ${shown(example)}`);
  return cut ? [...lines, `of the first ${SETTLED_MAX} of each class`] : lines;
}

function budgetLine({ pages, pagesPerDay, bytes, bytesPerDay }: BudgetView): string {
  return `${pages} of ${pagesPerDay} pages, ${bytes} of ${bytesPerDay} bytes`;
}

function trapLines({ traps, trapsMore, at }: HostView): string[] {
  const lines = traps.map(({ template, urls, pausedAt, samples }) => {
    const such = samples[0] === undefined ? "" : `, such as ${shown(samples[0])}`;
    return `${shown(template)}: some ${counted(urls, "URL")}, paused since ${when(pausedAt, at)}${such}`;
  });
  return trapsMore > 0 ? [...lines, `${counted(trapsMore, "pattern")} more`] : lines;
}
