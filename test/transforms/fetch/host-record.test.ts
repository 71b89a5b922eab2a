import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../../../ports/versioned-table.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import {
  admitDurably,
  changeHost,
  hostDesk,
  noteConnectFailure,
  releaseDurably,
} from "../../../transforms/fetch/host-record.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import { hostRecord, START, world } from "../world.ts";
import { allowAll, PAGE, pageLease, type World } from "./leases.ts";

const desk = ({ config }: World) => hostDesk(config, "a.test", false);
const request = (given: World, leaseId = "lease-1", url = PAGE) => ({
  lease: pageLease({ leaseId, url }),
  hostKey: "http://a.test",
  token: given.random.token(),
  viaAllowed: false,
  url,
});

/** The same services, with another answer to compare-and-set or insert on the hosts' table. */
function withHosts({ services }: World, change: Partial<CrawlServices["tables"]["hosts"]>): CrawlServices {
  return { ...services, tables: { ...services.tables, hosts: { ...services.tables.hosts, ...change } } };
}

const ANSWERED = {
  kind: "answered",
  status: 200,
  sentAt: START,
  answeredAt: START + 5,
  endedAt: START + 9,
  bodyBytes: 3,
} as const;

test("of many that ask at once one is admitted, and the record of a new host has one entry (P1)", async () => {
  const given = world();
  await allowAll(given.services);
  const asks = Array.from({ length: 8 }, (_, index) => request(given, `lease-${index}`, `${PAGE}/${index}`));
  const admissions = await Promise.all(asks.map((ask) => admitDurably(given.services, desk(given), ask)));
  assert.equal(admissions.filter(({ kind }) => kind === "admitted").length, 1);
  assert.equal((await hostRecord(given, "a.test"))?.inFlight.length, 1);
});

test("an admit whose write was done and answered with no is found again by its token", async () => {
  const given = world();
  await allowAll(given.services);
  const { hosts } = given.services.tables;
  const lying = withHosts(given, {
    insertIfAbsent: async (rows) => {
      await hosts.insertIfAbsent(rows);
      return rows.map(() => false);
    },
  });
  const admission = await admitDurably(lying, desk(given), request(given));
  assert.equal(admission.kind, "admitted");
  const record = await hostRecord(given, "a.test");
  assert.deepEqual([record?.inFlight.length, record?.pages], [1, 1]);
});

test("a record that others write all the time ends in contention, and no request", async () => {
  const given = world();
  await allowAll(given.services);
  const admission = await admitDurably(withHosts(given, { insertIfAbsent: async () => [false] }), desk(given), request(given));
  assert.deepEqual(admission, { kind: "refused", reason: "contention" });
});

test("robots rules are read anew in each round: what came between counts", async () => {
  const given = world();
  await allowAll(given.services);
  const key = rowKey("a.test", "http://a.test");
  const racing = withHosts(given, {
    insertIfAbsent: async () => {
      const [row] = await given.services.tables.robots.get([key]);
      const body = Buffer.from("User-agent: *\nDisallow: /\n");
      await given.services.tables.robots.compareAndSet(key, { ...row!.value, body }, row!.rev);
      return [false];
    },
  });
  assert.deepEqual(await admitDurably(racing, desk(given), request(given)), { kind: "settled", outcome: "robots" });
});

test("a release is never given up, however often others are faster", async () => {
  const given = world();
  await allowAll(given.services);
  const ask = request(given);
  await admitDurably(given.services, desk(given), ask);
  const { hosts } = given.services.tables;
  let lost = 0;
  const busy = withHosts(given, {
    compareAndSet: async (...args) => (lost++ < 40 ? undefined : hosts.compareAndSet(...args)),
  });
  const after = await releaseDurably(busy, desk(given), { token: ask.token }, ANSWERED);
  assert.deepEqual([after.inFlight, after.lastAnsweredAt], [[], START + 5]);
  assert.deepEqual(await hostRecord(given, "a.test"), after);
});

test("a release of a token that nobody knows writes nothing", async () => {
  const given = world();
  await releaseDurably(given.services, desk(given), { token: "unknown" }, { kind: "unsent" });
  assert.equal(await hostRecord(given, "a.test"), undefined);
});

test("with clocks that differ, an end is written as late as it may have been", async () => {
  const given = world({ config: { clockSkewMs: 200 } });
  await allowAll(given.services);
  const ask = request(given);
  await admitDurably(given.services, desk(given), ask);
  const after = await releaseDurably(given.services, desk(given), { token: ask.token }, ANSWERED);
  assert.deepEqual([after.lastSendAt, after.lastAnsweredAt, after.lastEndAt], [START + 200, START + 205, START + 209]);
  assert.equal(after.latencyMs, 5);
});

test("a connection that failed rests a host that has no record yet", async () => {
  const given = world();
  const after = await noteConnectFailure(given.services, desk(given), "dns");
  assert.ok(after.backoffUntil >= START + 15_000);
  assert.deepEqual(await hostRecord(given, "a.test"), after);
});

test("a change that changes nothing is not written", async () => {
  const given = world();
  await changeHost(given.services, desk(given), (host) => ({ ...host, pages: 4 }));
  const [before] = await given.services.tables.hosts.get([rowKey("a.test")]);
  await changeHost(given.services, desk(given), (host) => host);
  const [after] = await given.services.tables.hosts.get([rowKey("a.test")]);
  assert.equal(after?.rev, before?.rev);
});

/** Counts the reads of the hosts' table. */
function counted(given: World): { services: CrawlServices; reads: () => number } {
  let reads = 0;
  const { hosts } = given.services.tables;
  const services = withHosts(given, {
    get: (keys) => {
      reads++;
      return hosts.get(keys);
    },
  });
  return { services, reads: () => reads };
}

/** A host with a record, as run-lease has just seen it. */
async function seen(given: World) {
  await allowAll(given.services);
  await noteConnectFailure(given.services, desk(given), "dns");
  await given.clock.run(given.clock.now() + 60_000);
  const [host] = await given.services.tables.hosts.get([rowKey("a.test")]);
  const [robots] = await given.services.robots.read("a.test", ["http://a.test"]);
  return { host, robots };
}

test("what was just read of a host is not read again to admit and release", async () => {
  const given = world();
  const sight = await seen(given);
  const { services, reads } = counted(given);
  const ask = request(given);
  const admission = await admitDurably(services, desk(given), ask, sight);
  assert.ok(admission.kind === "admitted");
  await releaseDurably(services, desk(given), { token: ask.token, row: admission.row }, { kind: "unsent" });
  assert.equal(reads(), 0);
  assert.deepEqual((await hostRecord(given, "a.test"))?.inFlight, []);
});

test("a host that moved on since it was seen is read again: two with the same sight are not both admitted", async () => {
  const given = world();
  const sight = await seen(given);
  const first = await admitDurably(given.services, desk(given), request(given), sight);
  const second = await admitDurably(given.services, desk(given), request(given, "lease-2", `${PAGE}/2`), sight);
  assert.equal(first.kind, "admitted");
  assert.ok(second.kind === "refused" && second.reason === "concurrency");
});

test("a release whose record moved on since the admission keeps what others wrote", async () => {
  const given = world();
  const sight = await seen(given);
  const ask = request(given);
  const admission = await admitDurably(given.services, desk(given), ask, sight);
  assert.ok(admission.kind === "admitted");
  await changeHost(given.services, desk(given), (host) => ({ ...host, crawlDelayMs: 7_000 }));
  const after = await releaseDurably(given.services, desk(given), { token: ask.token, row: admission.row }, { kind: "unsent" });
  assert.deepEqual([after.inFlight, after.crawlDelayMs], [[], 7_000]);
});

test("where requests to a host run side by side, the admit reads anew", async () => {
  const given = world({ config: { policies: [{ host: "a.test", delayMs: 1_000, concurrency: 2 }] } });
  const sight = await seen(given);
  const { services, reads } = counted(given);
  await admitDurably(services, hostDesk(given.config, "a.test", false), request(given), sight);
  assert.equal(reads(), 1);
});

test("a store that refuses for a while does not lose what the host said: the release is tried again", async () => {
  const given = world();
  await allowAll(given.services);
  const ask = request(given);
  await admitDurably(given.services, desk(given), ask);
  let refusals = 4;
  const { hosts } = given.services.tables;
  const refusing = withHosts(given, {
    get: async (keys) => {
      if (refusals-- > 0) throw new StoreError("away for a moment");
      return hosts.get(keys);
    },
  });
  const end = {
    kind: "answered",
    status: 429,
    sentAt: START,
    answeredAt: START + 5,
    endedAt: START + 9,
    bodyBytes: 0,
  } as const;
  const released = releaseDurably(refusing, desk(given), { token: ask.token }, { ...end, retryAfterMs: 120_000 });
  await given.clock.run(START + 20_000);
  assert.ok((await released).backoffUntil >= START + 120_000);
});

test("a store that is broken for good is not waited for", async () => {
  const given = world();
  await allowAll(given.services);
  const broken = withHosts(given, { get: async () => Promise.reject(new StoreError("damaged", { final: true })) });
  await assert.rejects(releaseDurably(broken, desk(given), { token: "any" }, { kind: "unsent" }), /damaged/);
});
