import assert from "node:assert/strict";
import { test } from "node:test";
import { contentHash } from "../../../core/content/digest.ts";
import { parseWarcRecord } from "../../../core/warc/read.ts";
import type { HostState } from "../../../schemas/host-state.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { flight, host } from "../../core/politeness/given.ts";
import type { Reply } from "../fake-web.ts";
import {
  discoveries,
  dueEntries,
  dueFaults,
  hostRecord,
  reparses,
  reports,
  START,
  urlRecord,
  type WorldOptions,
  world,
} from "../world.ts";
import {
  addUrl,
  allowAll,
  HOST_KEY,
  html,
  LINKED,
  PAGE,
  PAGE_ID,
  pageLease,
  putRobots,
  runLease,
  type World,
} from "./leases.ts";

const DAY = 86_400_000;

async function fetched(reply: Reply, change: Partial<UrlState> = {}, options: WorldOptions = {}) {
  const given = world({ ...options, site: { [PAGE]: reply } });
  await addUrl(given.services, change);
  await allowAll(given.services);
  const again = await runLease(given, pageLease({ version: change.version ?? 0, kind: change.kind ?? "page" }));
  const record = (await urlRecord(given, "a.test", PAGE_ID))!;
  const [report] = await reports(given);
  const [event] = given.events.of("fetch");
  return { given, again, record, report, event, hostState: await hostRecord(given, "a.test") };
}

interface Row {
  situation: string;
  reply: Reply;
  before?: Partial<UrlState>;
  outcome: string;
  status?: number;
  reason?: string;
  dueIn: number;
  backoffMs?: number;
}

const bytesOf = (reply: Reply) => ("body" in reply ? contentHash(Buffer.from(reply.body ?? "")) : new Uint8Array());
const known: Partial<UrlState> = {
  version: 2,
  docVersion: 1,
  priority: 2,
  indexed: true,
  etag: '"one"',
  contentHash: bytesOf(LINKED),
  linkSetHash: new Uint8Array(8),
  lastFetchAt: START - 10 * DAY,
};

/** What a page wants that was found unchanged after 10 days: twice ln 2 times those and the 5.05 of the prior (core/revisit/change-rate.ts). */
const STILL = 1_802_559_000;

const table: Row[] = [
  { situation: "a page", reply: { ...LINKED, tookMs: 300 }, outcome: "fetched", status: 200, dueIn: 7 * DAY },
  { situation: "the same bytes again", reply: LINKED, before: known, outcome: "unchanged", status: 200, dueIn: STILL },
  { situation: "not modified", reply: { status: 304 }, before: known, outcome: "unchanged", status: 304, dueIn: STILL },
  {
    situation: "not modified, though nothing was asked conditionally (C3)",
    reply: { status: 304 },
    outcome: "server-error",
    status: 304,
    dueIn: 60_000,
  },
  {
    situation: "a redirect",
    reply: { status: 301, headers: { location: "/moved" } },
    outcome: "redirect",
    status: 301,
    dueIn: 7 * DAY,
  },
  {
    situation: "a redirect to nowhere",
    reply: { status: 302, headers: {} },
    outcome: "client-error",
    status: 302,
    reason: "location",
    dueIn: 30 * DAY,
  },
  { situation: "404", reply: { status: 404 }, outcome: "gone", status: 404, dueIn: 30 * DAY },
  { situation: "403", reply: { status: 403 }, outcome: "client-error", status: 403, dueIn: 30 * DAY },
  { situation: "500", reply: { status: 500 }, outcome: "server-error", status: 500, dueIn: 60_000, backoffMs: 15_000 },
  {
    situation: "429 with Retry-After (P11)",
    reply: { status: 429, headers: { "retry-after": "90" } },
    outcome: "throttled",
    status: 429,
    dueIn: 90_000,
    backoffMs: 90_000,
  },
  {
    situation: "429 with a Retry-After that says nothing (P15)",
    reply: { status: 429, headers: { "retry-after": "soon" } },
    outcome: "throttled",
    status: 429,
    dueIn: 15_000,
    backoffMs: 15_000,
  },
  {
    situation: "a type that nobody asked for",
    reply: { status: 200, headers: { "content-type": "image/png" }, body: "x" },
    outcome: "refused-body",
    status: 200,
    reason: "content-type",
    dueIn: 30 * DAY,
  },
  {
    situation: "a body beyond its limit",
    reply: { ...LINKED, bodyFails: "wire-bytes" },
    outcome: "refused-body",
    status: 200,
    reason: "wire-bytes",
    dueIn: 30 * DAY,
  },
  {
    situation: "no answer",
    reply: { sendFails: "timeout", tookMs: 15_000 },
    outcome: "failed",
    reason: "timeout",
    dueIn: 60_000,
    backoffMs: 15_000,
  },
  {
    situation: "no connection",
    reply: { connectFails: "connect" },
    outcome: "failed",
    reason: "connect",
    dueIn: 60_000,
    backoffMs: 15_000,
  },
  { situation: "a refused address", reply: { connectFails: "address" }, outcome: "address", dueIn: 7 * DAY },
];

for (const row of table)
  test(`a lease: ${row.situation}: ${row.outcome}, in the URL, the host, the index, the event and the report`, async () => {
    const { given, again, record, report, event, hostState } = await fetched(row.reply, row.before);
    const now = given.clock.now();
    assert.equal(again, undefined);
    assert.deepEqual([record.lastOutcome, record.lastStatus, record.lastReason], [row.outcome, row.status, row.reason]);
    assert.equal(record.version, (row.before?.version ?? 0) + 1);
    assert.equal(record.lastLeaseId, "lease-1");
    const wait = record.nextFetchAt - now;
    assert.ok(wait >= row.dueIn - 1_000 && wait <= row.dueIn * (row.dueIn < DAY ? 1.26 : 1), `due in ${wait} ms`);
    assert.deepEqual(await dueFaults(given), []);
    assert.deepEqual([event?.outcome, event?.status, event?.reason], [row.outcome, row.status, row.reason]);
    assert.deepEqual([event?.url, event?.leaseId, event?.version], [PAGE, "lease-1", row.before?.version ?? 0]);
    const { paceKey, leaseId, result, nextDueAt } = report!;
    assert.deepEqual([paceKey, leaseId, result, nextDueAt], ["a.test", "lease-1", row.outcome, record.nextFetchAt]);
    assert.deepEqual(hostState?.inFlight ?? [], []);
    const backoff = (hostState?.backoffUntil ?? 0) - now;
    if (row.backoffMs === undefined) assert.equal(hostState?.backoffUntil ?? 0, 0);
    else assert.ok(backoff >= row.backoffMs - 1_000 && backoff <= row.backoffMs * 1.25, `rests ${backoff} ms`);
    assert.equal(given.web.ended, "connectFails" in row.reply ? 0 : 1, "the connection was used or given back, once");
  });

test("the times of a request stand in the host's record as they were", async () => {
  const { given, hostState } = await fetched({ ...LINKED, tookMs: 300 });
  const { lastSendAt, lastAnsweredAt, lastEndAt, latencyMs, pages, viaAllowed } = hostState!;
  assert.deepEqual([lastSendAt, lastAnsweredAt, lastEndAt, latencyMs], [START, START + 300, START + 300, 300]);
  assert.deepEqual([pages, viaAllowed], [1, true]);
  assert.equal(given.web.log.length, 1);
});

test("a page is stored, parsed and indexed, its links published before its record stands", async () => {
  const { given, record } = await fetched(LINKED);
  const hash = contentHash(Buffer.from(LINKED.body));
  assert.deepEqual(Buffer.from(record.contentHash!), Buffer.from(hash));
  assert.deepEqual([record.indexed, record.docVersion, record.marks], [true, 1, undefined]);
  assert.deepEqual(await discoveries(given), [
    { source: "link", from: PAGE, depth: 2, hops: 0, kind: "page", urls: ["http://a.test/a", "http://a.test/b"] },
  ]);
  const [index] = given.events.of("index");
  assert.deepEqual([index?.urlId, index?.docVersion, index?.op, index?.url], [PAGE_ID, 1, "upsert", PAGE]);
  assert.equal(index?.contentHash, Buffer.from(hash).toString("hex"));
  const records = given.archive.records();
  assert.equal(records.length, 2);
  assert.equal(index?.offset, records[1]!.at.offset);
  const document = JSON.parse(given.documents.lines[0]!);
  assert.deepEqual([document.urlId, document.docVersion, document.title, document.offset], [PAGE_ID, 1, "one", index?.offset]);
});

test("equal bodies are stored once: the second capture refers to the first", async () => {
  const given = world({ site: { [PAGE]: LINKED, "http://a.test/copy": LINKED } });
  await allowAll(given.services);
  await addUrl(given.services);
  await addUrl(given.services, { canonicalUrl: "http://a.test/copy" });
  await runLease(given, pageLease());
  await given.clock.run(START + 5_000);
  await runLease(given, pageLease({ url: "http://a.test/copy", leaseId: "lease-2" }));
  const types = given.archive.records().map(({ bytes }) => /WARC-Type: (\w+)/.exec(Buffer.concat(bytes).toString())?.[1]);
  assert.deepEqual(types, ["request", "response", "request", "revisit"]);
  const [one, two] = given.events.of("index");
  assert.equal(two?.offset, one?.offset);
});

test("a revisit asks with the validators it has, and a 304 keeps hash and validators (C9)", async () => {
  const { given, record } = await fetched({ status: 304 }, known);
  const { headers } = given.web.log[0]!;
  assert.equal(headers["if-none-match"], '"one"');
  assert.deepEqual(Buffer.from(record.contentHash!), Buffer.from(known.contentHash!));
  assert.equal(record.etag, '"one"');
  assert.deepEqual(given.events.of("index"), []);
});

test("a document that was gone comes back with its page, though the bytes are the same", async () => {
  const replies: Reply[] = [LINKED, { status: 404 }, LINKED];
  const given = world({ site: { [PAGE]: ({ times }) => replies[times]! } });
  await allowAll(given.services);
  await addUrl(given.services);
  for (const version of [0, 1, 2]) {
    await given.clock.run(START + version * 5_000);
    const notBefore = given.clock.now();
    await runLease(given, pageLease({ version, leaseId: `l${version}`, notBefore, startBy: notBefore + 10_000 }));
  }
  assert.deepEqual(
    given.events.of("index").map(({ op, docVersion }) => [op, docVersion]),
    [
      ["upsert", 1],
      ["delete", 2],
      ["upsert", 3],
    ],
  );
});

test("X-Robots-Tag noindex: links are followed, there is no document; when it goes, the same bytes make one", async () => {
  const replies: Reply[] = [html(LINKED.body, { "x-robots-tag": "noindex" }), LINKED];
  const given = world({ site: { [PAGE]: ({ times }) => replies[times]! } });
  await allowAll(given.services);
  await addUrl(given.services);
  await runLease(given, pageLease());
  assert.equal((await discoveries(given)).length, 1);
  assert.deepEqual([given.documents.lines.length, given.events.of("index").length], [0, 0]);
  await given.clock.run(START + 5_000);
  await runLease(given, pageLease({ version: 1, leaseId: "l1" }));
  assert.deepEqual(
    given.events.of("index").map(({ op, docVersion }) => [op, docVersion]),
    [["upsert", 1]],
  );
  assert.deepEqual(await discoveries(given), [], "links that were published are not published again");
});

test("noindex that came with the same bytes takes the document away", async () => {
  const { given, record } = await fetched(html(LINKED.body, { "x-robots-tag": "noindex" }), known);
  assert.equal(record.indexed, false);
  assert.deepEqual(
    given.events.of("index").map(({ op, docVersion }) => [op, docVersion]),
    [["delete", 2]],
  );
});

test("a redirect's target is discovered with one more hop, at the same depth", async () => {
  const { given, event } = await fetched({ status: 308, headers: { location: "https://b.test/x#y" } }, { hops: 2, depth: 3 });
  assert.deepEqual(await discoveries(given), [
    { source: "redirect", from: PAGE, depth: 3, hops: 3, kind: "page", urls: ["https://b.test/x"] },
  ]);
  assert.equal(event?.redirectTo, "https://b.test/x");
});

test("a sitemap's URLs are discovered, and it is no document; HTML in its place leaves it schedulable (F3)", async () => {
  const xml = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.test/s</loc></url></urlset>';
  const sitemap = { kind: "sitemap", depth: 0, priority: 0 } as const;
  const reply = { status: 200, headers: { "content-type": "application/xml" }, body: xml };
  const { given, record } = await fetched(reply, sitemap);
  assert.deepEqual(
    (await discoveries(given)).map(({ source, urls, depth }) => [source, urls, depth]),
    [["sitemap", ["http://a.test/s"], 1]],
  );
  assert.deepEqual([record.indexed, given.events.of("index")], [undefined, []]);
  const wrong = await fetched(LINKED, sitemap);
  assert.equal(wrong.record.lastOutcome, "fetched");
  assert.ok(wrong.record.nextFetchAt <= START + 8 * DAY);
});

const busy = { parse: async () => ({ ok: false as const, reason: "busy" as const, detail: "" }), close: async () => {} };
const broken = { parse: async () => ({ ok: false as const, reason: "timeout" as const, detail: "" }), close: async () => {} };

test("a busy parser holds nothing up: the page completes and is left to be parsed", async () => {
  const { given, record } = await fetched(LINKED, {}, { parser: busy });
  assert.equal(record.lastOutcome, "fetched");
  assert.deepEqual(record.marks, { reparse: true });
  assert.deepEqual(await reparses(given), [{ paceKey: "a.test", urlId: PAGE_ID, version: 1 }]);
});

test("a page that cannot be parsed completes with the reason and a mark, and is not tried again", async () => {
  const { given, record } = await fetched(LINKED, {}, { parser: broken });
  assert.deepEqual([record.lastOutcome, record.lastReason, record.marks], ["fetched", "parse-timeout", { parseFailed: true }]);
  assert.deepEqual(await reparses(given), []);
});

interface Refusal {
  situation: string;
  lease?: object;
  prepare: (given: World) => Promise<unknown>;
  result: string;
}
const setHost = ({ services }: World, change: Partial<HostState>) =>
  services.tables.hosts.insertIfAbsent([{ key: rowKey("a.test"), value: host(change) }]);
const nothing = async () => {};

const refusals: Refusal[] = [
  { situation: "past its time", lease: { startBy: START - 1 }, prepare: nothing, result: "late" },
  { situation: "of another version (F7, F15)", lease: { version: 5 }, prepare: nothing, result: "stale" },
  { situation: "of a URL without a record", lease: { urlId: "none" }, prepare: nothing, result: "stale" },
  { situation: "in back-off", prepare: (given) => setHost(given, { backoffUntil: START + DAY }), result: "backoff" },
  { situation: "the host was moved", prepare: (given) => setHost(given, { movedTo: "b.test" }), result: "moved" },
  { situation: "a newer job owns the host", prepare: (given) => setHost(given, { epoch: 9 }), result: "epoch" },
  {
    situation: "another execution is under way (P1)",
    prepare: (given) => setHost(given, { inFlight: [flight({ expiresAt: START + DAY })] }),
    result: "concurrency",
  },
  {
    situation: "the clock allows it only after its time",
    prepare: (given) => setHost(given, { lastAnsweredAt: START, crawlDelayMs: 600_000 }),
    result: "clock",
  },
  {
    situation: "robots.txt is not known",
    prepare: ({ services }) => services.tables.robots.delete([{ key: rowKey("a.test", HOST_KEY) }]),
    result: "robots-missing",
  },
  {
    situation: "the crawl's pages are spent",
    prepare: async ({ services }) => services.budget.spend(1e18),
    result: "page-limit",
  },
];
for (const { situation, lease, prepare, result } of refusals)
  test(`a lease without a request: ${situation}: ${result}; no connection, the URL stays due`, async () => {
    const given = world({ site: { [PAGE]: LINKED }, config: { pagesMax: 10 } });
    await addUrl(given.services);
    await allowAll(given.services);
    await prepare(given);
    const before = [await urlRecord(given, "a.test", PAGE_ID), await dueEntries(given)];
    await runLease(given, pageLease(lease));
    assert.deepEqual(given.web.connects, []);
    const [report] = await reports(given);
    assert.deepEqual([report?.fetched, report?.result, report?.nextDueAt], [false, result, undefined]);
    assert.deepEqual([await urlRecord(given, "a.test", PAGE_ID), await dueEntries(given)], before);
    assert.equal(given.metrics.counter("gleaner_leases_unfetched_total", { reason: result }), 1);
  });

test("a clock that allows it soon: the lease asks to run again, and no report is sent", async () => {
  const given = world({ site: { [PAGE]: LINKED } });
  await addUrl(given.services);
  await allowAll(given.services);
  await setHost(given, { lastAnsweredAt: START - 200, viaAllowed: true });
  const again = await runLease(given, pageLease());
  assert.equal(again, START + 801);
  assert.deepEqual(await reports(given), []);
  await given.clock.run(again!);
  assert.equal(await runLease(given, pageLease()), undefined);
  assert.equal(given.web.log[0]?.at, again);
});

test("what robots.txt forbids completes without a connection", async () => {
  const given = world({ site: { [PAGE]: LINKED } });
  await addUrl(given.services, { indexed: true, docVersion: 4 });
  await putRobots(given.services, "User-agent: *\nDisallow: /page\n");
  await setHost(given, { backoffUntil: START + DAY });
  await runLease(given, pageLease({ settle: "robots" }));
  assert.deepEqual(given.web.connects, []);
  const record = await urlRecord(given, "a.test", PAGE_ID);
  assert.deepEqual([record?.lastOutcome, record?.version, record?.priority, record?.lastFetchAt], ["robots", 1, 3, undefined]);
  assert.deepEqual(
    given.events.of("index").map(({ op, docVersion }) => [op, docVersion]),
    [["delete", 5]],
  );
  const [report] = await reports(given);
  assert.deepEqual([report?.fetched, report?.result], [false, "robots"]);
});

test("a lease that says `settle` and may be fetched by now is fetched: the worker judges again", async () => {
  const given = world({ site: { [PAGE]: LINKED } });
  await addUrl(given.services);
  await allowAll(given.services);
  await runLease(given, pageLease({ settle: "robots" }));
  assert.equal(given.web.log.length, 1);
});

test("three admits without a completion: the URL is poisoned, without a fourth request", async () => {
  const given = world({ site: { [PAGE]: LINKED } });
  await addUrl(given.services);
  await allowAll(given.services);
  await setHost(given, { recent: [{ urlId: PAGE_ID, version: 0, tries: 3 }] });
  await runLease(given, pageLease());
  assert.deepEqual(given.web.connects, []);
  assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.lastOutcome, "poisoned");
});

test("a request that did not leave in time gives all back: place, page, try", async () => {
  const { given, record, report, hostState } = await fetched({ unsent: true });
  assert.equal(report?.result, "unsent");
  assert.equal(record.version, 0);
  assert.deepEqual([hostState?.inFlight, hostState?.pages, hostState?.lastSendAt], [[], 0, 0]);
  assert.deepEqual(
    hostState?.recent.map(({ tries }) => tries),
    [0],
  );
  assert.deepEqual(given.events.of("fetch"), []);
});

test("pages of the budget: one that was asked for is spent, answered or not; one that was not is given back", async () => {
  const left = async (reply: Reply) => (await fetched(reply, {}, { config: { pagesMax: 10 } })).given.services.budget.left;
  assert.equal(await left(LINKED), 9);
  assert.equal(await left({ status: 500 }), 9);
  assert.equal(await left({ sendFails: "timeout" }), 9);
  assert.equal(await left({ connectFails: "connect" }), 10);
  assert.equal(await left({ unsent: true }), 10);
});

test("unfinished work of an earlier completion is finished first", async () => {
  const given = world();
  const dueFrom = { priority: 1, dueAt: START - 10 };
  const done = { version: 1, nextFetchAt: START + DAY, priority: 2, docVersion: 1, indexed: true };
  await addUrl(given.services);
  await allowAll(given.services);
  const key = rowKey("a.test", PAGE_ID);
  const [row] = await given.services.tables.urls.get([key]);
  await given.services.tables.urls.compareAndSet(
    key,
    { ...row!.value, ...done, marks: { dueFrom, index: "delete" } },
    row!.rev,
  );
  await runLease(given, pageLease());
  assert.deepEqual(await dueFaults(given), []);
  assert.equal(given.events.of("index").length, 1);
  const [report] = await reports(given);
  assert.equal(report?.result, "stale");
});

test("what is stored can be read back as it was sent", async () => {
  const { given } = await fetched(LINKED);
  const stored = parseWarcRecord(await given.archive.read(given.archive.records()[1]!.at));
  assert.ok(stored.ok && stored.http !== undefined);
  assert.equal(Buffer.from(stored.http.body).toString(), LINKED.body);
});

test("a lease that is executed twice at once asks the host once: each execution draws its own token", async () => {
  const given = world({ site: { [PAGE]: { ...LINKED, tookMs: 500 } } });
  await addUrl(given.services);
  await allowAll(given.services);
  await Promise.all([runLease(given, pageLease()), runLease(given, pageLease(), given.restarted)]);
  assert.equal(given.web.log.length, 1);
  const record = await urlRecord(given, "a.test", PAGE_ID);
  assert.equal(record?.version, 1);
});
