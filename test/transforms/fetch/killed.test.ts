// A worker is killed at each of its writes in turn: what does the next one make of it? (P5)
import assert from "node:assert/strict";
import { test } from "node:test";
import { urlIdentity } from "../../../core/url/keys.ts";
import { completeDurably } from "../../../transforms/fetch/complete.ts";
import { repair } from "../../../transforms/repair.ts";
import type { Reply } from "../fake-web.ts";
import { type Death, discoveries, dueFaults, hostRecord, START, urlRecord, world } from "../world.ts";
import { addUrl, allowAll, LINKED, PAGE, PAGE_ID, pageLease, runLease, type World } from "./leases.ts";

const MINUTE = 60_000;

/** A lease on a worker that dies, then, after all its traces have expired, repair and leases of the next worker until the URL is done. */
async function killed(dies: Death, reply: Reply): Promise<{ given: World; died: boolean; leases: number }> {
  const given = world({ dies, site: { [PAGE]: { tookMs: 200, ...reply } as Reply } });
  const live = { ...given, services: given.restarted };
  await addUrl(live.services);
  await allowAll(live.services);
  await runLease(given, pageLease());
  const died = given.process.writes > dies.write;
  let leases = 0;
  for (; leases < 4; leases++) {
    await repair({ services: live.services, sweepShards: 4 });
    const record = await urlRecord(live, "a.test", PAGE_ID);
    if (record!.version > 0) break;
    const host = await hostRecord(live, "a.test");
    const free = Math.max(host?.backoffUntil ?? 0, ...(host?.inFlight ?? []).map((flight) => flight.expiresAt + 20_000));
    await given.clock.run(Math.max(given.clock.now(), free) + 2 * MINUTE);
    const notBefore = given.clock.now();
    await runLease(live, pageLease({ leaseId: `next-${leases}`, notBefore, startBy: notBefore + 10_000 }));
  }
  return { given: live, died, leases };
}

const replies: [situation: string, reply: Reply, index: number][] = [
  ["a page", LINKED, 1],
  ["a redirect", { status: 301, headers: { location: "/a" } }, 0],
  ["404", { status: 404 }, 0],
];
for (const [situation, reply, index] of replies)
  test(`${situation}, the worker killed at any write: one completion, every link and event at least once, nothing asked too soon`, async () => {
    let deaths = 0;
    for (const when of ["before", "after"] as const)
      for (let write = 0; ; write++) {
        const { given, died, leases } = await killed({ write, when }, reply);
        const where = `killed ${when} write ${write}, ${leases} leases more`;
        const record = await urlRecord(given, "a.test", PAGE_ID);
        assert.equal(record?.version, 1, where);
        assert.deepEqual(await dueFaults(given), [], where);
        assert.ok(given.events.of("fetch").length >= 1, where);
        const events = given.events.of("index");
        assert.ok(events.length >= index, where);
        assert.ok(
          events.every(({ urlId, docVersion }) => urlId === PAGE_ID && docVersion === 1),
          where,
        );
        const found = new Set((await discoveries(given)).flatMap(({ urls }) => urls));
        assert.equal(found.has("http://a.test/a"), situation !== "404", where);
        for (const [at, ask] of given.web.log.entries()) {
          const before = given.web.log[at - 1];
          assert.ok(before === undefined || ask.at >= before.answeredAt + 1_000, where);
        }
        const host = await hostRecord(given, "a.test");
        assert.deepEqual(host?.inFlight.filter(({ expiresAt }) => expiresAt > given.clock.now()) ?? [], [], where);
        if (!died) break;
        deaths++;
      }
    assert.ok(deaths >= 12, `${deaths} deaths`);
  });

test("two workers that complete the same lease, or two of one version: the record moves once (F7)", async () => {
  const given = world();
  await addUrl(given.services);
  const [one, two, other] = await Promise.all([
    completeDurably(given.services, pageLease(), { outcome: "gone" }),
    completeDurably(given.restarted, pageLease(), { outcome: "gone" }),
    completeDurably(given.restarted, pageLease({ leaseId: "other" }), { outcome: "client-error" }),
  ]);
  const record = await urlRecord(given, "a.test", PAGE_ID);
  assert.equal(record?.version, 1);
  const told = [one, two, other].filter((result) => result !== undefined);
  assert.ok(told.length >= 1 && told.every((result) => result.record.lastLeaseId === record?.lastLeaseId));
  for (const { afterwards } of told) await afterwards();
  assert.deepEqual(await dueFaults(given), []);
});

test("a completion over marks that are not finished yet loses none of their work", async () => {
  const given = world();
  await addUrl(given.services, { version: 1, docVersion: 3, indexed: true, marks: { index: "upsert" } });
  const done = await completeDurably(given.services, pageLease({ version: 1 }), { outcome: "gone" });
  await done?.afterwards();
  assert.deepEqual(
    given.events.of("index").map(({ op, docVersion }) => [op, docVersion]),
    [
      ["upsert", 3],
      ["delete", 4],
    ],
  );
  assert.deepEqual(await dueFaults(given), []);
});

test("a lease that comes back after another one has completed the URL changes nothing (P9)", async () => {
  const given = world({ site: { [PAGE]: LINKED } });
  await addUrl(given.services);
  await allowAll(given.services);
  await runLease(given, pageLease());
  await given.clock.run(START + 30_000);
  await runLease(given, pageLease({ leaseId: "late" }));
  assert.equal(given.web.log.length, 1);
  assert.equal((await urlRecord(given, "a.test", urlIdentity(PAGE).urlId))?.lastLeaseId, "lease-1");
});
