import assert from "node:assert/strict";
import { test } from "node:test";
import { urlIdentity } from "../../core/url/keys.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { limits } from "../../schemas/limits.ts";
import type { HostMessage, Report } from "../../schemas/messages.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { dueKey, hostDueKey, rowKey } from "../../schemas/row-key.ts";
import { lowerHostDue, putDue } from "../../transforms/due-index.ts";
import { hostFrontier } from "../../transforms/host-frontier.ts";
import { url } from "../core/frontier/given.ts";
import { keyContext } from "./contexts.ts";
import { dueEntries, START, world } from "./world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
type World = ReturnType<typeof world>;

const hostContext = () => keyContext<typeof hostFrontier.outputs, { frontier: never }>("a.test");

function frontier(given: Pick<World, "config" | "clock" | "services">, context = hostContext()) {
  const fn = hostFrontier.make(given.config, given.services);
  // biome-ignore lint/suspicious/noExplicitAny: one context serves the DoFn's own type of cells
  const own = context as any;
  return {
    context,
    tell: (message: HostMessage) => fn.process(message, own),
    wake: (at = given.clock.now()) => fn.process({ kind: "wake", paceKey: "a.test", at }, own),
    /** Lets the timer fire, early or in time. */
    fire: async (at = context.timer ?? 0) => {
      await given.clock.run(at);
      await fn.onTimer?.("turn", own);
    },
    leases: (): FetchLease[] => context.emitted.splice(0).map(({ value }) => value),
  };
}

async function due(given: World, paths: string[], dueAt = START, hostKey = "http://a.test"): Promise<void> {
  for (const path of paths) {
    const canonicalUrl = `${hostKey}/${path}`;
    const { urlId } = urlIdentity(canonicalUrl);
    const value = url({ canonicalUrl, nextFetchAt: dueAt });
    await given.services.tables.urls.insertIfAbsent([{ key: rowKey("a.test", urlId), value }]);
    await putDue(given.services, [{ paceKey: "a.test", urlId, priority: 1, dueAt }]);
    await lowerHostDue(given.services.tables.hostDue, "a.test", 4, dueAt);
  }
}

async function openRobots(given: World): Promise<void> {
  await putRobots(given, "http://a.test", { status: "allow-all", fetchedAt: START, expiresAt: START + DAY });
}

async function putRobots(given: World, hostKey: string, state: RobotsState): Promise<void> {
  await given.services.tables.robots.insertIfAbsent([{ key: rowKey("a.test", hostKey), value: state }]);
}

const reportOf = (lease: FetchLease, change: Partial<Report> = {}): Report => ({
  kind: "report",
  paceKey: "a.test",
  leaseId: lease.leaseId,
  urlId: lease.urlId,
  hostKey: lease.hostKey,
  fetched: true,
  result: "fetched",
  at: START,
  ...change,
});

async function hostDueAt({ services }: World): Promise<number | undefined> {
  const [row] = await services.tables.hostDue.get([hostDueKey("a.test", 4)]);
  return row?.value.nextDueAt;
}

test("a wake: robots.txt first, then one page at a time, each report bringing the next", async () => {
  const given = world();
  await due(given, ["1", "2"]);
  const host = frontier(given);
  await host.wake();
  const [robots] = host.leases();
  assert.equal(robots?.kind, "robots");
  await openRobots(given);
  await host.tell(reportOf(robots!));
  const [first, ...none] = host.leases();
  assert.equal(first?.kind, "page");
  assert.deepEqual(none, []);
  await host.tell(reportOf(first!, { nextDueAt: START + 7 * DAY }));
  const [second] = host.leases();
  assert.notEqual(second?.url, first?.url);
});

test("a host with thousands of due URLs sleeps between its turns", async () => {
  const given = world();
  await openRobots(given);
  await due(
    given,
    Array.from({ length: 200 }, (_, index) => String(index)),
  );
  const host = frontier(given);
  await host.wake();
  const seen = new Set<string>();
  for (let turn = 0; turn < 200; turn++) {
    const leases = host.leases();
    assert.equal(leases.length, 1, `turn ${turn}`);
    seen.add(leases[0]!.url);
    assert.ok(
      host.context.timer! > given.clock.now() + 30_000,
      `the next turn lies ${host.context.timer! - given.clock.now()} ms ahead`,
    );
    // The URL is completed before the report is heard.
    const { urlId } = leases[0]!;
    await given.services.tables.due.delete([{ key: dueKey({ paceKey: "a.test", priority: 1, dueAt: START, urlId }) }]);
    await host.tell(reportOf(leases[0]!, { nextDueAt: START + 7 * DAY }));
  }
  assert.equal(seen.size, 200);
});

test("a timer that fires early is set anew, one for a state that is gone does nothing", async () => {
  const given = world();
  await openRobots(given);
  await due(given, ["1"], START + 60_000);
  const host = frontier(given);
  await host.wake();
  assert.equal(host.context.timer, START + 60_000);
  await host.fire(START + 59_990);
  assert.deepEqual(host.leases(), []);
  assert.equal(host.context.timer, START + 60_000);
  await host.fire();
  assert.equal(host.leases().length, 1);
  host.context.cells.clear();
  host.context.timer = undefined;
  await host.fire(START + 61_000);
  assert.deepEqual([host.leases(), host.context.timer], [[], undefined]);
});

test("turns that came due before their worker was there are spread, each once; later ones are taken however late", async () => {
  const given = world();
  await openRobots(given);
  await due(given, ["1"], START + 60_000);
  const lost = frontier(given);
  await lost.wake();
  const restartAt = START + 65_000;
  await given.clock.run(restartAt);
  const after = { ...given, services: { ...given.services, startedAt: restartAt } };
  const putOffMs: number[] = [];
  for (let host = 0; host < 50; host++) {
    const context = hostContext();
    for (const [name, value] of lost.context.cells) context.cells.set(name, value);
    const restored = frontier(after, context);
    await (host % 2 === 0 ? restored.fire(restartAt) : restored.wake(restartAt));
    assert.deepEqual(restored.leases(), []);
    putOffMs.push(context.timer! - restartAt);
  }
  assert.ok(putOffMs.every((ms) => ms >= 0 && ms < limits.turnJitterMs));
  const inHalf = putOffMs.filter((ms) => ms < limits.turnJitterMs / 2).length;
  assert.ok(inHalf > 10 && inHalf < 40, `${inHalf} of 50 in the first half`);

  const late = frontier(after, lost.context);
  await late.fire(restartAt);
  await late.fire(restartAt + 60_000);
  assert.equal(late.leases().length, 1);
});

test("a wake for later is a turn for later", async () => {
  const given = world();
  await openRobots(given);
  await due(given, ["1"]);
  const host = frontier(given);
  await host.wake(START + 1_500);
  assert.deepEqual(host.leases(), []);
  assert.equal(host.context.timer, START + 1_500);
});

test("entries that no record stands behind are deleted as they are met", async () => {
  const given = world();
  await openRobots(given);
  await due(given, ["1"]);
  const real = await dueEntries(given);
  await putDue(given.services, [
    { paceKey: "a.test", urlId: "none", priority: 0, dueAt: START },
    { ...real[0]!, dueAt: START - 5 },
  ]);
  const host = frontier(given);
  await host.wake();
  assert.equal(host.leases()[0]?.url, "http://a.test/1");
  assert.deepEqual(await dueEntries(given), real);
});

test("nothing due within the hour: the state goes, and HostDue says when it is due next", async () => {
  const given = world();
  await due(given, ["1"], START + 2 * HOUR);
  await lowerHostDue(given.services.tables.hostDue, "a.test", 4, START - 5);
  const host = frontier(given);
  await host.wake();
  assert.equal(host.context.cells.size, 0);
  assert.equal(host.context.timer, undefined);
  assert.equal(await hostDueAt(given), START + 2 * HOUR);
  assert.equal(given.metrics.gaugeValue("gleaner_hosts", { state: "waiting" }) ?? 0, 0);
});

test("a host that left is found by the sweep though a discovery came between its look and its leaving, and the wake was lost", async () => {
  for (const between of ["get", "scan", "compareAndSet"] as const) {
    const given = world();
    await openRobots(given);
    await lowerHostDue(given.services.tables.hostDue, "a.test", 4, START - 5);
    let came = false;
    const come = async (): Promise<void> => {
      if (came) return;
      came = true;
      await due(given, ["new"]);
    };
    const { hostDue } = given.services.tables;
    const inner = given.services.tables.due;
    const services = {
      ...given.services,
      tables: {
        ...given.services.tables,
        hostDue: {
          ...hostDue,
          get: async (keys: readonly string[]) => {
            const rows = await hostDue.get(keys);
            if (between === "get") await come();
            return rows;
          },
          compareAndSet: async (...args: Parameters<typeof hostDue.compareAndSet>) => {
            if (between === "compareAndSet") await come();
            return hostDue.compareAndSet(...args);
          },
        },
        due: {
          ...inner,
          scan: async (range: Parameters<typeof inner.scan>[0]) => {
            const rows = await inner.scan(range);
            if (between === "scan" && range.from.includes("/3/")) await come();
            return rows;
          },
        },
      },
    };
    const host = frontier({ ...given, services } as World);
    await host.wake(START - 1);
    assert.ok(came);
    const waiting = host.context.cells.size > 0 || host.leases().length > 0;
    assert.ok(waiting || (await hostDueAt(given))! <= given.clock.now(), `between ${between}`);
  }
});

test("a report of a lease that nobody waits for any more wakes the host for its URL's next time", async () => {
  const given = world();
  await openRobots(given);
  await due(given, ["1"], START + 60_000);
  const host = frontier(given);
  const lease = { leaseId: "old", urlId: "u", hostKey: "http://a.test" } as FetchLease;
  await host.tell(reportOf(lease, { nextDueAt: START + 60_000 }));
  assert.equal(host.context.timer, START + 60_000);
  const silent = frontier(world());
  await silent.tell(reportOf(lease));
  assert.equal(silent.context.cells.size, 0, "without news no state is made that nothing would clear");
});

test("a lease whose report is lost is granted again when it can no longer run", async () => {
  const given = world();
  await openRobots(given);
  await due(given, ["1"]);
  const host = frontier(given);
  await host.wake();
  const [lost] = host.leases();
  await host.fire();
  const [again] = host.leases();
  assert.equal(again?.url, lost?.url);
  assert.ok(given.clock.now() >= lost!.startBy + 30_000);
});

test("a URL whose entry came behind the cursor is met as soon as the end is reached", async () => {
  const given = world();
  await openRobots(given);
  await due(given, ["1"], START);
  await given.clock.run(START + 10);
  const host = frontier(given);
  await host.wake();
  const [first] = host.leases();
  await due(given, ["late"], START - 20);
  await host.wake(START - 20);
  await given.services.tables.due.delete([
    { key: dueKey({ paceKey: "a.test", priority: 1, dueAt: START, urlId: first!.urlId }) },
  ]);
  await host.tell(reportOf(first!));
  assert.deepEqual(
    host.leases().map(({ url: leased }) => leased),
    ["http://a.test/late"],
  );
});

test("URLs whose robots.txt cannot be reached crowd out no others of the host, however many they are", async () => {
  const given = world();
  await openRobots(given);
  await putRobots(given, "https://a.test", { status: "unreachable", fetchedAt: START, expiresAt: START + 3_000_000 });
  const blocked = Array.from({ length: 200 }, (_, index) => `blocked${index}`);
  await due(given, blocked, START - 100, "https://a.test");
  await due(given, ["open"], START);
  const host = frontier(given);
  await host.wake();
  assert.deepEqual(
    host.leases().map(({ url }) => url),
    ["http://a.test/open"],
  );
});

test("a host whose due URLs are all blocked for long rests, however many they are, and then goes on", async () => {
  const given = world();
  const until = START + 20 * HOUR;
  await putRobots(given, "https://a.test", { status: "deferred", fetchedAt: START, expiresAt: until });
  const blocked = Array.from({ length: 1_500 }, (_, index) => `blocked${index}`); // more than a turn reads
  await due(given, blocked, START - 100, "https://a.test");
  const host = frontier(given);
  await host.wake();
  let turns = 0;
  for (; turns < 60 && given.clock.now() < until; turns++) await host.fire();
  assert.ok(turns < 60, `${given.clock.now() - START} ms have passed in ${turns} turns`);
  assert.deepEqual(
    host.leases().map(({ kind, notBefore }) => [kind, notBefore >= until]),
    [["robots", true]],
  );
});
