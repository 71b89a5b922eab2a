import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../../../ports/http.ts";
import { outcomeEvent } from "../../../transforms/fetch/fetch-event.ts";
import { fetchPage } from "../../../transforms/fetch/fetch-page.ts";
import { answeredEnd, exchange } from "../../../transforms/fetch/request.ts";
import { settle } from "../../../transforms/fetch/settle.ts";
import { url } from "../../core/frontier/given.ts";
import { hostRecord, START, urlRecord, world } from "../world.ts";
import { addUrl, allowAll, LINKED, PAGE, PAGE_ID, pageLease, type World } from "./leases.ts";

const prepared = (given: World) => ({
  lease: pageLease(),
  hostKey: "http://a.test",
  token: given.random.token(),
  url: PAGE,
});
const ask = (given: World) =>
  exchange(given.services, given.config, { paceKey: "a.test", request: prepared(given), headers: { accept: "text/html" } });

test("the request says who we are; release is owed after the answer, and its entry stands until then", async () => {
  const given = world({ site: { [PAGE]: LINKED } });
  await allowAll(given.services);
  const result = await ask(given);
  assert.equal(result.kind, "answer");
  assert.deepEqual(given.web.log[0]?.headers, { "user-agent": "OurBot/1.0", accept: "text/html" });
  assert.equal((await hostRecord(given, "a.test"))?.inFlight.length, 1);
});

test("a pace below the default holds only for the address that this very connection leads to", async () => {
  for (const [address, delayMs, refused] of [
    ["127.0.0.1", 200, false],
    ["8.8.8.8", 200, true],
    ["8.8.8.8", 1_000, true],
  ] as const) {
    const given = world({ site: { [PAGE]: LINKED }, config: { delayMs } });
    given.web.address = address;
    await allowAll(given.services);
    await ask(given);
    const first = await hostRecord(given, "a.test");
    assert.equal(first?.viaAllowed, address === "127.0.0.1");
    const key = (await given.services.tables.hosts.scan({ from: "", to: "~", limit: 1 }))[0]!;
    await given.services.tables.hosts.compareAndSet(key.key, { ...key.value, inFlight: [], lastAnsweredAt: START }, key.rev);
    await given.clock.run(START + 500);
    const again = await ask(given);
    assert.equal(again.kind === "refused" && again.reason === "clock", refused, `${address} ${delayMs}`);
  }
});

test("a store that fails at the admit gives the connection back", async () => {
  const given = world({ site: { [PAGE]: LINKED } });
  await allowAll(given.services);
  const { hosts } = given.services.tables;
  const tables = {
    ...given.services.tables,
    hosts: { ...hosts, insertIfAbsent: async () => Promise.reject(new Error("full")) },
  };
  const broken = { ...given, services: { ...given.services, tables } };
  await assert.rejects(ask(broken as World), /full/);
  assert.deepEqual([given.web.ended, given.web.log.length], [1, 0]);
});

const answer = (retryAfter?: string) =>
  ({
    status: 503,
    sentAt: START,
    answeredAt: START + 5,
    headers: retryAfter === undefined ? [] : [["Retry-After", retryAfter]],
  }) as unknown as Answer;

test("Retry-After counts in both forms, and only where it asks for a wait (P13, P15)", () => {
  const wait = (value?: string) => {
    const end = answeredEnd(answer(value), START + 9, 3);
    return end.kind === "answered" ? end.retryAfterMs : undefined;
  };
  assert.equal(wait("90"), 90_000);
  assert.equal(wait(new Date(START + 90_000).toUTCString()), 89_995);
  for (const value of [undefined, "0", "soon", "-5", "", new Date(START - 90_000).toUTCString()])
    assert.equal(wait(value), undefined);
});

test("a page that the crawl's budget no longer holds is not connected to", async () => {
  const given = world({ config: { pagesMax: 0 } });
  const end = await fetchPage(given.services, given.config, { request: prepared(given), before: url() });
  assert.deepEqual([end.result, given.web.connects], ["page-limit", []]);
});

test("what needs no request completes with its event and its next time", async () => {
  const given = world();
  await addUrl(given.services);
  const { afterwards, ...end } = await settle(given.services, pageLease(), "robots");
  assert.notEqual((await urlRecord(given, "a.test", PAGE_ID))?.marks?.dueFrom, undefined);
  await afterwards?.();
  assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.marks, undefined);
  const record = await urlRecord(given, "a.test", PAGE_ID);
  assert.deepEqual(end, { fetched: false, result: "robots", nextDueAt: record?.nextFetchAt });
  assert.equal(given.events.of("fetch")[0]?.outcome, "robots");
});

test("an event carries the lease it is of, and the counters follow from it", async () => {
  const given = world();
  const details = { at: START, outcome: "failed", reason: "timeout", wireBytes: 7, latencyMs: 3 } as const;
  await outcomeEvent(given.services, pageLease(), details);
  const { urlId, hostKey, paceKey, kind, leaseId, version } = pageLease();
  assert.deepEqual(given.events.of("fetch"), [{ ...details, urlId, url: PAGE, hostKey, paceKey, kind, leaseId, version }]);
  assert.equal(given.metrics.counter("gleaner_fetches_total", { kind: "page", outcome: "failed" }), 1);
  assert.equal(given.metrics.counter("gleaner_fetch_reasons_total", { reason: "timeout" }), 1);
  assert.equal(given.metrics.total("gleaner_wire_bytes_total"), 7);
});
