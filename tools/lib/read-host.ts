// What is known of one host? Its clock and budgets, its robots.txt, what is due of it, how its URLs ended, its traps and its last failures.
import { type Explanation, explainHost } from "../../core/frontier/explain.ts";
import type { PendingUrl } from "../../core/frontier/outlook.ts";
import { judgeRobots } from "../../core/robots/judge.ts";
import { hostKeyOf } from "../../core/url/keys.ts";
import { scopeRefusal } from "../../core/url/scope.ts";
import type { CrawlReading } from "../../pipelines/wiring.ts";
import type { FetchEvent } from "../../schemas/events.ts";
import type { Outcome } from "../../schemas/reasons.ts";
import { afterPrefix, type DueEntry, duePrefix, parseDueKey, rowKey } from "../../schemas/row-key.ts";
import { priorities, priorityClasses, type UrlState } from "../../schemas/url-state.ts";
import { type ClockView, readClock, readPagesLeft } from "./read-clock.ts";
import { type RobotsView, readRobotsViews } from "./read-robots.ts";
import { type BudgetView, budgetOf, readTraps, type Traps } from "./read-traps.ts";

export interface DueClass {
  priority: number;
  /** At most COUNTED_MAX; `more`: there are more. */
  count: number;
  more: boolean;
  firstDueAt?: number;
}

export interface HostView extends Traps {
  paceKey: string;
  /** When all this was read. */
  at: number;
  running?: boolean;
  explanation: Explanation;
  due: DueClass[];
  /** How URLs that wait for a revisit, or for nothing, ended last; of the first SETTLED_MAX of each class. */
  settled: Partial<Record<Outcome, { count: number; example: string }>>;
  clock: ClockView;
  budget: BudgetView;
  robots: RobotsView[];
  /** Newest first. */
  failures: FetchEvent[];
  eventsComplete: boolean;
  /** Of the whole crawl, where --max-pages bounds it. */
  pagesLeft?: number;
  /** Whether the crawl's scope covers the host's root. */
  inScope: boolean;
}

const COUNTED_MAX = 1_000; // due entries of one class that are counted
const PENDING_MAX = 16; // URLs looked at of each pending class, as transforms/host-outlook.ts does
export const SETTLED_MAX = 100; // URLs looked at of each other class
const FAILURES_MAX = 5;

export async function readHost(reading: CrawlReading, paceKey: string): Promise<HostView> {
  const now = reading.now();
  const classes = await Promise.all(priorityClasses.map((priority) => readClass(reading, paceKey, priority)));
  const sampled = classes.map(({ entries }, priority) =>
    entries.slice(0, priority === priorities.urgent || priority === priorities.discovery ? PENDING_MAX : SETTLED_MAX),
  );
  const records = await readRecords(reading, paceKey, sampled.flat());
  const pendingRecords = records.filter(({ entry }) => entry.priority <= priorities.discovery);
  const settled = outcomesOf(records.filter(({ entry }) => entry.priority > priorities.discovery));
  const hostKeys = [...new Set(pendingRecords.map(({ record }) => hostKeyOf(record.canonicalUrl)))];
  const [pending, { host, policy, clock }, robots, failed, pagesLeft, traps] = await Promise.all([
    readPending(reading, { paceKey, hostKeys, records: pendingRecords, now }),
    readClock(reading, paceKey, now),
    readRobotsViews(reading, { paceKey, hostKeys, now }),
    readFailures(reading, paceKey),
    readPagesLeft(reading),
    readTraps(reading, paceKey),
  ]);
  const running = reading.running();
  return {
    ...traps,
    paceKey,
    at: now,
    ...(running === undefined ? {} : { running }),
    explanation: explainHost({ host, policy, pending, settled: countsOf(settled), pagesLeft, now }),
    due: classes.map(({ summary }) => summary),
    settled,
    clock,
    budget: budgetOf(host, policy, now),
    robots,
    failures: failed.events,
    eventsComplete: failed.complete,
    ...(Number.isFinite(pagesLeft) ? { pagesLeft } : {}),
    inScope: scopeRefusal(reading.config.scope, `http://${paceKey}/`) !== "scope",
  };
}

async function readClass({ tables }: CrawlReading, paceKey: string, priority: number) {
  const prefix = duePrefix(paceKey, priority);
  const rows = await tables.due.scan({ from: prefix, to: afterPrefix(prefix), limit: COUNTED_MAX + 1 });
  const entries = rows.map(({ key }) => parseDueKey(key));
  const summary: DueClass = {
    priority,
    count: Math.min(rows.length, COUNTED_MAX),
    more: rows.length > COUNTED_MAX,
    ...(entries[0] === undefined ? {} : { firstDueAt: entries[0].dueAt }),
  };
  return { entries, summary };
}

interface Standing {
  entry: DueEntry;
  record: UrlState;
}

/** Entries are hints: those that their records do not agree with say nothing. */
async function readRecords({ tables }: CrawlReading, paceKey: string, entries: readonly DueEntry[]): Promise<Standing[]> {
  const found = await tables.urls.get(entries.map(({ urlId }) => rowKey(paceKey, urlId)));
  return entries.flatMap((entry, index) => {
    const record = found[index]?.value;
    return record?.nextFetchAt === entry.dueAt && record.priority === entry.priority ? [{ entry, record }] : [];
  });
}

function outcomesOf(standing: readonly Standing[]): HostView["settled"] {
  const ends: HostView["settled"] = {};
  for (const { record } of standing) {
    if (record.lastOutcome === undefined) continue;
    const { count, example } = ends[record.lastOutcome] ?? { count: 0, example: record.canonicalUrl };
    ends[record.lastOutcome] = { count: count + 1, example };
  }
  return ends;
}

function countsOf(ends: HostView["settled"]): Partial<Record<Outcome, number>> {
  return Object.fromEntries(Object.entries(ends).map(([outcome, { count }]) => [outcome, count]));
}

async function readPending(
  { robots }: CrawlReading,
  of: { paceKey: string; hostKeys: readonly string[]; records: readonly Standing[]; now: number },
): Promise<PendingUrl[]> {
  const views = await robots.read(of.paceKey, of.hostKeys);
  const pending = of.records.map(({ record: { canonicalUrl, nextFetchAt, failureCount } }) => {
    const view = views[of.hostKeys.indexOf(hostKeyOf(canonicalUrl))];
    const judgement = judgeRobots(view?.state, view?.rules, canonicalUrl, of.now);
    return { url: canonicalUrl, dueAt: nextFetchAt, failureCount, robots: judgement };
  });
  return pending.sort((a, b) => a.dueAt - b.dueAt);
}

const FAILED: ReadonlySet<Outcome> = new Set(["failed", "server-error", "throttled", "address", "poisoned"] as const);

function readFailures(reading: CrawlReading, paceKey: string) {
  return reading.events({
    kind: "fetch",
    holding: JSON.stringify(paceKey),
    wanted: (event) => event.paceKey === paceKey && FAILED.has(event.outcome),
    max: FAILURES_MAX,
  });
}
