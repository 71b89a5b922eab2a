// Does a turn cost more at a host with a million pending URLs than at one with a hundred? HostFrontier's own calls, timed one by one.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { KeyedContext } from "../../../beam/dofn.ts";
import type { FrontierState } from "../../../core/frontier/state.ts";
import { openSqliteStore } from "../../../io/stores/sqlite-store.ts";
import { type RawTables, tableNames } from "../../../pipelines/worker.ts";
import type { FetchLease, fetchLease } from "../../../schemas/lease.ts";
import type { HostMessage } from "../../../schemas/messages.ts";
import { dueKey, rowKey } from "../../../schemas/row-key.ts";
import { dropDue, putDue } from "../../../transforms/due-index.ts";
import { hostFrontier } from "../../../transforms/host-frontier.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import { frontierServices, seedHosts } from "./frontier-services.ts";
import {
  type Calls,
  configOf,
  counted,
  hostOfNumber,
  memoryTables,
  paceKeyOfNumber,
  power,
  printTable,
  START,
  say,
} from "./given.ts";
import { inChild } from "./in-child.ts";

const PENDING = [100, 10_000, 1_000_000];
const ROUNDS = 5; // the hosts in alternation, so that a disturbance of the machine meets all of them
const GRANTS = 480; // a round and host; ten refills

type StoreKind = "memory" | "sqlite";

interface TurnFigures {
  pending: number;
  /** Medians of wall time, us. */
  report: number;
  timer: number;
  refill: number;
  /** Refilling turns a grant. */
  refills: number;
  callsPerGrant: number;
}

export async function benchTurns(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { store: { type: "string" }, pending: { type: "string", default: "1000000" } },
  });
  const sizes = PENDING.filter((size) => size <= Number(values.pending));
  if (values.store !== undefined) return void say(JSON.stringify(await measure(values.store as StoreKind, sizes)));
  for (const store of ["memory", "sqlite"] as const) {
    say(
      `turns: ${sizes.map(power).join(", ")} pending URLs of one host each, all in one ${store} store; medians of wall time, us`,
    );
    print(await inChild<TurnFigures[]>(["turns", "--store", store, "--pending", values.pending]));
    say("");
  }
}

/** One grant is one turn at the report and one at the timer; every 48th refills. */
const perGrant = ({ report, timer, refill, refills }: TurnFigures): number => report + timer * (1 - refills) + refill * refills;

function print(results: readonly TurnFigures[]): void {
  printTable(
    ["pending", "at a report", "at the timer", "with refill", "refills/grant", "table calls/grant", "a grant", "to the first"],
    results.map((each) => [
      power(each.pending),
      each.report.toFixed(1),
      each.timer.toFixed(1),
      each.refill.toFixed(1),
      each.refills.toFixed(3),
      each.callsPerGrant.toFixed(2),
      perGrant(each).toFixed(1),
      (perGrant(each) / perGrant(results[0]!)).toFixed(2),
    ]),
  );
}

async function measure(kind: StoreKind, sizes: readonly number[]): Promise<TurnFigures[]> {
  const opened = await open(kind);
  await seedHosts(opened.raw, { hosts: sizes.length, urlsOf: (host) => sizes[host]! });
  const drivers = sizes.map((_, host) => driver(opened.raw, paceKeyOfNumber(host)));
  for (const drive of drivers) await drive.grants(GRANTS); // compiled and cached before any figure counts
  for (const drive of drivers) drive.forget();
  for (let round = 0; round < ROUNDS; round++) for (const drive of drivers) await drive.grants(GRANTS);
  await opened.close();
  return drivers.map((drive, host) => ({ pending: sizes[host]!, ...drive.figures() }));
}

async function open(kind: StoreKind): Promise<{ raw: RawTables; close(): Promise<void> }> {
  if (kind === "memory") return { raw: memoryTables(), close: async () => {} };
  const folder = mkdtempSync(join(tmpdir(), "gleaner-bench-"));
  const store = await openSqliteStore({ folder, tables: tableNames, queues: [], durability: "process" });
  return {
    raw: Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const DELAY_MS = 1_000;

/** One host's turns, called as the engine calls them, under a clock that is set to the next turn. */
function driver(raw: RawTables, paceKey: string) {
  const calls: Calls = new Map();
  const tables = Object.fromEntries(
    Object.entries(raw).map(([name, table]) => [name, counted(table, name, calls)]),
  ) as RawTables;
  let now = START;
  const clock = { now: () => now, after: () => () => {} };
  const services = frontierServices(tables, clock, configOf(DELAY_MS));
  const writing = frontierServices(raw, clock, configOf(DELAY_MS));
  const doFn = hostFrontier.make(configOf(DELAY_MS), services);
  const host = fakeHost(paceKey);
  let times = { report: [] as number[], timer: [] as number[], refill: [] as number[] };

  async function timed(kind: "report" | "timer", turn: () => void | Promise<void>): Promise<void> {
    const scans = calls.get("due.scan")?.calls ?? 0;
    const began = performance.now();
    await turn();
    const micros = (performance.now() - began) * 1000;
    times[(calls.get("due.scan")?.calls ?? 0) > scans ? "refill" : kind].push(micros);
  }

  return {
    async grants(count: number): Promise<void> {
      if (host.wakeAt() === undefined) await doFn.process({ kind: "wake", paceKey, at: now }, host.context);
      for (let granted = 0; granted < count; ) {
        for (const lease of host.leases.splice(0)) {
          granted++;
          now = Math.max(now, lease.notBefore);
          const report = await completed(writing, lease, now);
          await timed("report", () => doFn.process(report, host.context));
        }
        now = Math.max(now, host.wakeAt() ?? now);
        await timed("timer", () => doFn.onTimer?.("turn", host.context));
      }
    },
    forget() {
      times = { report: [], timer: [], refill: [] };
      calls.clear();
    },
    figures(): Omit<TurnFigures, "pending"> {
      const { report, timer, refill } = times;
      const grants = ROUNDS * GRANTS;
      const total = [...calls.values()].reduce((sum, { calls: count }) => sum + count, 0);
      const medians = { report: median(report), timer: median(timer), refill: median(refill) };
      return { ...medians, refills: refill.length / grants, callsPerGrant: total / grants };
    },
  };
}

/** State, timer and output of one key. */
function fakeHost(paceKey: string) {
  let state: FrontierState | undefined;
  let wakeAt: number | undefined;
  const leases: FetchLease[] = [];
  const setState = (value?: FrontierState): void => {
    state = value;
  };
  const setWake = (at?: number): void => {
    wakeAt = at;
  };
  const context: KeyedContext<{ leases: typeof fetchLease }, { frontier: FrontierState }> = {
    key: paceKey,
    state: () => ({ get: async () => state, set: setState, clear: () => setState() }),
    bag: () => {
      throw new Error("the frontier has no bags");
    },
    setTimer: (_family, at) => setWake(at),
    clearTimer: () => setWake(),
    emit: (_output, lease) => void leases.push(lease),
    afterCommit: () => {},
  };
  return { context, leases, wakeAt: () => wakeAt };
}

/** The URL is due again at once, behind all others, so that as many are pending as before. */
async function completed(services: CrawlServices, lease: FetchLease, now: number): Promise<HostMessage> {
  const { tables } = services;
  const { paceKey, urlId, leaseId, hostKey } = lease;
  const key = rowKey(paceKey, urlId);
  const [[url], [host]] = await Promise.all([tables.urls.get([key]), tables.hosts.get([rowKey(paceKey)])]);
  const { priority, nextFetchAt } = url!.value;
  await tables.urls.compareAndSet(key, { ...url!.value, version: lease.version + 1, nextFetchAt: now }, url!.rev);
  await putDue(services, [{ paceKey, urlId, priority, dueAt: now }]);
  await dropDue(services, [dueKey({ paceKey, urlId, priority, dueAt: nextFetchAt })]);
  await tables.hosts.compareAndSet(rowKey(paceKey), hostOfNumber(now), host!.rev);
  return { ...{ kind: "report", paceKey, leaseId, urlId, hostKey }, fetched: true, result: "fetched", at: now, nextDueAt: now };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
