// Are the right pages parsed again, each once, and is it told truly what came of them?
import assert from "node:assert/strict";
import { test } from "node:test";
import { inlineParser } from "../../io/parsing/inline.ts";
import { emptyReport, type ReplayReport, type ReplayTarget, replayStored } from "../../pipelines/replay.ts";
import type { ParseFailure, Parser } from "../../ports/parser.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { addUrl, allowAll, html, pageLease, runLease } from "../transforms/fetch/leases.ts";
import { START, urlRecord, world } from "../transforms/world.ts";

const url = (number: number): string => `http://a.test/${number}`;
const urlIdOf = (of: string): string => pageLease({ url: of }).urlId;

type Answer = ParseFailure["reason"] | "parse";

/** `count` pages, fetched while the parser answered as `then` says; from now on it answers each URL by `now`, which is "parse" at first. */
async function fetched(count: number, then: Answer = "timeout") {
  const state = { answer: (_url: string): Answer => then, asked: [] as string[] };
  const real = inlineParser();
  const parser: Parser = {
    close: async () => {},
    async parse(request) {
      state.asked.push(request.url);
      const answer = state.answer(request.url);
      return answer === "parse" ? real.parse(request) : { ok: false, reason: answer, detail: "" };
    },
  };
  const site = Object.fromEntries(
    Array.from({ length: count }, (_, number) => [url(number), html(`<p>page ${number}</p><a href="/from/${number}">x</a>`)]),
  );
  const given = world({ parser, site, config: { delayMs: 0 } });
  await allowAll(given.services);
  for (let number = 0; number < count; number++) {
    await addUrl(given.services, { canonicalUrl: url(number) });
    const at = given.clock.now() + 60_000;
    await given.clock.run(at);
    await runLease(given, pageLease({ leaseId: `l${number}`, url: url(number), notBefore: at, startBy: at + 10_000 }));
  }
  state.answer = () => "parse";
  state.asked = [];
  return { given, state };
}

type Given = ReturnType<typeof world>;

async function replayed(given: Given, target: ReplayTarget = "pending", more: object = {}): Promise<ReplayReport> {
  const done = replayStored({ services: given.services, config: given.config, target, ...more });
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  done.then(end, end);
  for (let round = 0; !ended && round < 2_000; round++) await given.clock.run(given.clock.nextAt() ?? given.clock.now());
  return done;
}

const record = (given: Given, number: number) => urlRecord(given, "a.test", urlIdOf(url(number)));

async function change(given: Given, number: number, fields: Partial<UrlState>): Promise<void> {
  const { urls } = given.services.tables;
  const key = rowKey("a.test", urlIdOf(url(number)));
  const [row] = await urls.get([key]);
  await urls.compareAndSet(key, { ...row!.value, ...fields }, row!.rev);
}

const NONE = emptyReport();

for (const then of ["timeout", "busy"] as const)
  test(`all pages whose parse ended as ${then} are parsed, the others are not, and a second time finds none`, async () => {
    const { given, state } = await fetched(20, then);
    await change(given, 3, { marks: {} });
    assert.deepEqual(await replayed(given), { ...NONE, records: 20, pages: 19, parsed: 19, upserts: 19 });
    assert.equal(new Set(state.asked).size, 19);
    assert.ok(!state.asked.includes(url(3)));
    for (let number = 0; number < 20; number++)
      if (number !== 3) assert.equal((await record(given, number))?.marks, undefined, url(number));
    assert.equal(given.events.of("index").length, 19);
    assert.equal(given.documents.lines.length, 19);
    assert.deepEqual(await replayed(given), { ...NONE, records: 20 });
    assert.equal(state.asked.length, 19);
    assert.equal(given.web.log.length, 20, "the web was not asked again");
  });

test("one URL is parsed whether it is marked or not, and no other", async () => {
  const { given, state } = await fetched(3);
  assert.deepEqual(await replayed(given, { url: url(1) }), { ...NONE, records: 1, pages: 1, parsed: 1, upserts: 1 });
  assert.deepEqual(await replayed(given, { url: url(1) }), { ...NONE, records: 1, pages: 1, unchanged: 1 });
  assert.deepEqual(state.asked, [url(1), url(1)]);
  assert.deepEqual((await record(given, 0))?.marks, { parseFailed: true });
});

test("a URL that is not known, and one that was never fetched, are told apart", async () => {
  const { given } = await fetched(0);
  await addUrl(given.services, { canonicalUrl: url(7) });
  assert.deepEqual(await replayed(given, { url: url(7) }), { ...NONE, records: 1, unknown: "never-fetched" });
  assert.deepEqual(await replayed(given, { url: url(8) }), { ...NONE, unknown: "unknown-url" });
});

test("pages that fail, and pages that are not there, are counted by reason and named, and hold up no other", async () => {
  const { given, state } = await fetched(6);
  state.answer = (asked) => (asked === url(0) ? "timeout" : asked === url(1) ? "memory" : "parse");
  await change(given, 2, { contentHash: new Uint8Array(20) });
  const { troubles, ...report } = await replayed(given);
  const { troubles: _, ...none } = NONE;
  assert.deepEqual(report, {
    ...none,
    records: 6,
    pages: 6,
    parsed: 3,
    upserts: 3,
    failed: { timeout: 1, memory: 1 },
    missing: { "no-place": 1 },
  });
  const named = troubles.map(({ url: of, reason }) => `${of} ${reason}`).sort();
  assert.deepEqual(named, [`${url(0)} timeout`, `${url(1)} memory`, `${url(2)} no-place`]);
  assert.equal((await replayed(given)).pages, 3, "they are found again");
});

test("a parser that is busy for a while is asked again; one that stays so is given up, and the page stays marked", async () => {
  const { given, state } = await fetched(2, "busy");
  let asks = 0;
  state.answer = () => (++asks > 9 ? "parse" : "busy");
  assert.equal((await replayed(given)).parsed, 2);
  const { given: other, state: stalled } = await fetched(1, "busy");
  stalled.answer = () => "busy";
  assert.deepEqual((await replayed(other)).failed, { busy: 1 });
  assert.deepEqual((await record(other, 0))?.marks, { reparse: true });
  assert.ok(stalled.asked.length > 10);
});

test("work that a killed crawl left in the record is finished first, and the page then parsed in the same run", async () => {
  const { given } = await fetched(1);
  await change(given, 0, { docVersion: 3, indexed: false, marks: { index: "delete", parseFailed: true } });
  assert.deepEqual(await replayed(given), { ...NONE, records: 1, pages: 1, parsed: 1, upserts: 1 });
  const told = given.events.of("index").map(({ op, docVersion }) => [op, docVersion]);
  assert.deepEqual(told, [
    ["delete", 3],
    ["upsert", 4],
  ]);
});

const MANY = 60; // pages: more than twice as many as are parsed side by side

test("stopped between two pages: what was begun is finished, and the rest is as it was", async () => {
  const { given, state } = await fetched(MANY);
  const report = await replayed(given, "pending", { stopped: () => state.asked.length >= 5 });
  assert.equal(report.interrupted, true);
  assert.ok(report.parsed >= 5 && report.parsed < MANY / 2, `${report.parsed} pages`);
  assert.equal(given.events.of("index").length, report.parsed);
  const rest = await replayed(given);
  assert.deepEqual([rest.parsed, rest.interrupted], [MANY - report.parsed, false]);
});

test("a store that fails ends it, after the pages under way", async () => {
  const { given, state } = await fetched(MANY);
  let writes = 0;
  const failing: CrawlServices["documents"] = {
    ...given.services.documents,
    append: async (lines) => (++writes > 3 ? Promise.reject(new StoreError("disk full")) : given.documents.append(lines)),
  };
  await assert.rejects(replayed({ ...given, services: { ...given.services, documents: failing } }), /disk full/);
  assert.ok(state.asked.length < MANY / 2, "no further page was begun");
  assert.equal((await replayed(given)).parsed, MANY - 3);
});

test("long work says how far it is, now and then", async () => {
  const { given, state } = await fetched(4, "busy");
  const told: number[] = [];
  state.answer = () => (given.clock.now() - START > 900_000 ? "parse" : "busy");
  await given.clock.run(START + 890_000);
  await replayed(given, "pending", { progress: ({ pages }: ReplayReport) => told.push(pages) });
  assert.ok(told.length >= 1 && told.length <= 4, String(told));
});
