// Does the repair lose anything of a crawl that goes on beside it? Each call to a store waits for its turn, which a seeded scheduler gives.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc, { type Scheduler } from "fast-check";
import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../../../../core/url/keys.ts";
import type { DayFiles } from "../../../../ports/day-files.ts";
import { StoreError } from "../../../../ports/versioned-table.ts";
import { dueKey, hostDueKey, parseDueKey, rowKey } from "../../../../schemas/row-key.ts";
import { repairRange } from "../../../../transforms/daily/repair/repair-range.ts";
import { discover } from "../../../../transforms/discover.ts";
import { completeDurably } from "../../../../transforms/fetch/complete.ts";
import { hostFrontier } from "../../../../transforms/host-frontier.ts";
import type { CrawlServices, Tables } from "../../../../transforms/services.ts";
import { bundle, keyContext } from "../../contexts.ts";
import { pageLease } from "../../fetch/leases.ts";
import { dueEntries, dueFaults, START, urlRecord, world } from "../../world.ts";

const ALL = { part: "all", from: "", to: "~" };
const HOSTS = ["a.test", "b.test"];
const URLS = HOSTS.flatMap((host) => ["", "1", "2"].map((path) => `http://${host}/${path}`));
const SHARDS = 4;
const ALL_ARE_DUE_MS = 100 * 86_400_000; // what was completed is due again, and so are the entries that lead to marks
const FOREVER = 10_000; // calls

type World = ReturnType<typeof world>;

/** One that works at the stores: it dies at the call with this number, for good. */
interface Actor {
  does: "discover" | "complete" | "turn" | "repair" | "repair later";
  at: number;
  calls: number;
}

const actors: fc.Arbitrary<Actor> = fc.record({
  does: fc.constantFrom("discover", "complete", "complete", "turn", "repair", "repair later"),
  at: fc.nat(URLS.length - 1),
  calls: fc.constant(FOREVER),
});
const mortals = fc.record({ does: actors.map(({ does }) => does), at: fc.nat(URLS.length - 1), calls: fc.nat(14) });

function atTheStores(given: World, scheduler: Scheduler, actor: Actor): CrawlServices {
  let calls = 0;
  const gate =
    <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await scheduler.schedule(Promise.resolve(), `${actor.does} ${actor.at} ${name}`);
      if (calls++ >= actor.calls) throw new StoreError("dead", { final: true });
      return call(...args);
    };
  const gated = Object.entries(given.services.tables).map(([name, table]) => [
    name,
    Object.fromEntries(Object.entries(table).map(([call, run]) => [call, gate(`${name}.${call}`, run as never)])),
  ]);
  const { events } = given.services;
  return {
    ...given.services,
    tables: Object.fromEntries(gated) as Tables,
    events: { ...events, publish: gate("events.publish", events.publish as never) as typeof events.publish },
  };
}

/** What came of all that did not die. */
interface Done {
  discovered: Set<string>;
  completions: Map<string, number>;
}

async function act(given: World, services: CrawlServices, { does, at }: Actor, number: number, done: Done): Promise<void> {
  const url = URLS[at]!;
  const { urlId } = urlIdentity(url);
  const paceKey = paceKeyOfHost(hostKeyOf(url));
  if (does === "discover") {
    const urls = [url, URLS[(at + 1) % URLS.length]!];
    const fn = discover.make(given.config, services);
    const context = bundle<typeof discover.outputs>();
    await fn.startBundle?.();
    await fn.process({ source: "link", depth: 1, hops: 0, kind: "page", urls }, context);
    await fn.finishBundle?.(context);
    for (const each of urls) done.discovered.add(each);
  } else if (does === "complete") {
    const [row] = await services.tables.urls.get([rowKey(paceKey, urlId)]);
    if (row === undefined) return;
    const lease = pageLease({
      url,
      urlId,
      paceKey,
      hostKey: `http://${paceKey}`,
      version: row.value.version,
      leaseId: `${number}`,
    });
    const now = START + 1_000 * number; // so that no two due times are the same
    const content = { hash: Buffer.alloc(20, number), indexable: true, reparse: false };
    const own = { ...services, clock: { ...services.clock, now: () => now } };
    const completed = await completeDurably(own, lease, { outcome: "fetched", status: 200, sentAt: now, content });
    if (completed !== undefined) done.completions.set(url, (done.completions.get(url) ?? 0) + 1);
    await completed?.afterwards();
  } else if (does === "turn") await turnOf(given, services, paceKey);
  else await repaired(services);
}

async function turnOf(given: World, services: CrawlServices, paceKey: string): Promise<void> {
  const context = keyContext<typeof hostFrontier.outputs, { frontier: never }>(paceKey);
  await hostFrontier.make(given.config, services).process({ kind: "wake", paceKey, at: given.clock.now() }, context as never);
}

/** What is reported is what was mended now. */
const noNotes: DayFiles = {
  list: async () => [],
  async *lines() {},
  writeLines: async (name) => ({ name, rows: 0, bytes: 0, sha256: "" }),
  measure: async () => undefined,
  digest: async () => undefined,
  remove: async () => {},
};

async function repaired(services: CrawlServices): Promise<Record<string, number>> {
  const context = bundle<{ findings: never }>();
  await repairRange.make({ day: "2026-11-30", asOf: START }, { ...services, files: noNotes }).process(ALL, context as never);
  const mended = context.emitted.map(({ value: { key, value } }): [string, number] => [key, value.mended]);
  return Object.fromEntries(mended.filter(([, count]) => count > 0));
}

async function carryOut(scheduler: Scheduler, plan: readonly Actor[]): Promise<{ given: World; done: Done }> {
  const given = world();
  const done: Done = { discovered: new Set(), completions: new Map() };
  const first = { does: "discover", at: 0, calls: FOREVER } as const;
  const before = discover.make(given.config, given.services);
  const context = bundle<typeof discover.outputs>();
  await before.startBundle?.();
  await before.process({ source: "seed", depth: 0, hops: 0, kind: "page", urls: URLS.slice(0, 4) }, context);
  await before.finishBundle?.(context);
  for (const url of URLS.slice(0, 4)) done.discovered.add(url);
  const all = [first, ...plan].map((actor, number) =>
    act(given, atTheStores(given, scheduler, actor), actor, number + 1, done).catch((error: unknown) => {
      if (!(error instanceof StoreError && error.final)) throw error;
    }),
  );
  const ended = Promise.all(all);
  ended.catch(() => {}); // told below
  await scheduler.waitIdle();
  await ended;
  return { given, done };
}

async function assertNothingLost(given: World, { discovered, completions }: Done): Promise<void> {
  for (const url of discovered) {
    const record = await urlRecord(given, paceKeyOfHost(hostKeyOf(url)), urlIdentity(url).urlId);
    assert.ok(record !== undefined, `${url} has its record`);
    assert.ok(record.version >= (completions.get(url) ?? 0), `${url} was completed ${completions.get(url)} times`);
  }
}

async function assertEachIsDue(given: World): Promise<void> {
  const standing = new Set((await dueEntries(given)).map(dueKey));
  for (const { key, value } of await given.services.tables.urls.scan({ ...ALL, limit: 100 })) {
    const [, paceKey = "", urlId = ""] = key.split("/");
    const own = dueKey({ paceKey, urlId, priority: value.priority, dueAt: value.nextFetchAt });
    assert.ok(standing.has(own), `${value.canonicalUrl} has its entry`);
  }
}

async function assertEachHasATurn(given: World): Promise<void> {
  for (const { paceKey, dueAt } of (await given.services.tables.due.scan({ ...ALL, limit: 100 })).map(({ key }) =>
    parseDueKey(key),
  )) {
    const [turn] = await given.services.tables.hostDue.get([hostDueKey(paceKey, SHARDS)]);
    assert.ok(turn !== undefined && turn.value.nextDueAt <= dueAt, `the sweep finds ${paceKey}`);
  }
}

test("whatever the order of its calls among a crawl's: nothing is lost, and no URL is without its due entry", () =>
  fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(actors, { minLength: 2, maxLength: 7 }), async (scheduler, plan) => {
      const { given, done } = await carryOut(scheduler, plan);
      await assertNothingLost(given, done);
      await assertEachIsDue(given);
    }),
    { numRuns: 150 },
  ));

test("and where some of both die at any call, the next repair and a turn of each host put all in order", () =>
  fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(mortals, { minLength: 2, maxLength: 7 }), async (scheduler, plan) => {
      const { given, done } = await carryOut(scheduler, plan);
      await repaired(given.services);
      await assertNothingLost(given, done);
      await assertEachIsDue(given);
      await assertEachHasATurn(given);
      await given.clock.run(START + ALL_ARE_DUE_MS);
      for (const paceKey of HOSTS) await turnOf(given, given.services, paceKey);
      assert.deepEqual(await dueFaults(given), []);
      const { "host-without-turn": _, ...mended } = await repaired(given.services);
      assert.deepEqual(mended, {});
    }),
    { numRuns: 150 },
  ));
