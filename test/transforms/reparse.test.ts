import assert from "node:assert/strict";
import { test } from "node:test";
import { inlineParser } from "../../io/parsing/inline.ts";
import type { Parser } from "../../ports/parser.ts";
import type { ReparseMessage } from "../../schemas/messages.ts";
import { rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { completeDurably } from "../../transforms/fetch/complete.ts";
import { reparse, reparseStored } from "../../transforms/reparse.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { bundle } from "./contexts.ts";
import type { Reply } from "./fake-web.ts";
import { addUrl, allowAll, html, LINKED, PAGE, PAGE_ID, pageLease, runLease } from "./fetch/leases.ts";
import { discoveries, dueFaults, reparses, urlRecord, world } from "./world.ts";

const MESSAGE: ReparseMessage = { paceKey: "a.test", urlId: PAGE_ID, version: 1 };

/** A page that was fetched while the parser was busy; from then on it is as `busy` says. */
async function waiting(reply: Reply = LINKED) {
  const state: { answer: "busy" | "timeout" | "memory" | "parse"; parsed: number } = { answer: "busy", parsed: 0 };
  const real = inlineParser();
  const parser: Parser = {
    close: async () => {},
    async parse(request) {
      if (state.answer !== "parse") return { ok: false, reason: state.answer, detail: "" };
      state.parsed++;
      return real.parse(request);
    },
  };
  const given = world({ parser, site: { [PAGE]: reply } });
  await addUrl(given.services);
  await allowAll(given.services);
  await runLease(given, pageLease());
  const messages = await reparses(given);
  assert.deepEqual(messages, [MESSAGE]);
  state.answer = "parse";
  return { given, state };
}

async function process(given: ReturnType<typeof world>, message = MESSAGE, services: CrawlServices = given.services) {
  const done = Promise.resolve(reparse.make(given.config, services).process(message, bundle()));
  await given.clock.run(given.clock.now() + 1_000);
  return done;
}

test("a page that was left behind is parsed from its stored object: links, document and one index event, no request", async () => {
  const { given } = await waiting();
  await process(given);
  assert.equal(given.web.log.length, 1);
  assert.deepEqual(
    (await discoveries(given)).map(({ urls, depth }) => [urls, depth]),
    [[["http://a.test/a", "http://a.test/b"], 2]],
  );
  const record = await urlRecord(given, "a.test", PAGE_ID);
  assert.deepEqual([record?.version, record?.docVersion, record?.indexed, record?.marks], [1, 1, true, undefined]);
  assert.equal(given.documents.lines.length, 1);
  assert.deepEqual(
    given.events.of("index").map(({ op, docVersion }) => [op, docVersion]),
    [["upsert", 1]],
  );
  assert.deepEqual(await dueFaults(given), []);
});

const EVERYTHING = html('<title>Sorry</title><p>this is what we say to everybody</p><a href="/more">more</a>');
const strict = { policies: [{ host: "a.test", delayMs: 0, limits: { softNotFoundUrls: 5 } }] };

/** As many pages with one text were fetched as make it no page, and then PAGE, while the parser was busy. */
async function amongSilence(): Promise<ReturnType<typeof world>> {
  const urls = Array.from({ length: 8 }, (_, index) => `http://a.test/any${index}`);
  const real = inlineParser();
  const parser: Parser = {
    ...real,
    parse: async (request) =>
      request.url === PAGE && given.web.log.length > fetchedBefore
        ? { ok: false, reason: "busy", detail: "" }
        : real.parse(request),
  };
  const given = world({ parser, config: strict, site: Object.fromEntries([PAGE, ...urls].map((each) => [each, EVERYTHING])) });
  let fetchedBefore = 0;
  await allowAll(given.services);
  for (const [index, canonicalUrl] of [...urls, PAGE].entries()) {
    fetchedBefore = given.web.log.length;
    await addUrl(given.services, { canonicalUrl });
    await runLease(given, pageLease({ url: canonicalUrl, leaseId: `lease-${index}` }));
  }
  fetchedBefore = given.web.log.length; // from now on the parser is idle
  await discoveries(given);
  return given;
}

test("a page that was left behind and is its host's answer to everything is withheld, as a fetch withholds it", async () => {
  const given = await amongSilence();
  const [documents, told] = [given.documents.lines.length, given.events.of("index").length];
  await process(given);
  const record = await urlRecord(given, "a.test", PAGE_ID);
  assert.deepEqual(
    [record?.lastReason, record?.marks, record?.indexed, record?.linkSetHash],
    ["soft-404", undefined, undefined, undefined],
  );
  assert.deepEqual(await discoveries(given), []);
  assert.deepEqual([given.documents.lines.length, given.events.of("index").length], [documents, told]);
});

test("a page that was left behind counts among its host's answers like one that was not", async () => {
  const { given } = await waiting(EVERYTHING);
  await process(given);
  const { simHash } = (await urlRecord(given, "a.test", PAGE_ID))!;
  const another = {
    urlId: "another",
    url: "http://a.test/another",
    status: 200,
    title: "Sorry",
    links: ["http://a.test/more"],
    simHash: Buffer.from(simHash!).toString("hex"),
  };
  assert.equal(given.services.answers.judge("http://a.test", another, 1), "soft-404");
});

test("a message that comes twice parses once", async () => {
  const { given, state } = await waiting();
  await process(given);
  await process(given);
  assert.deepEqual([state.parsed, given.events.of("index").length], [1, 1]);
});

test("two that come at once make one document version", async () => {
  const { given } = await waiting();
  await Promise.all([process(given), process(given)]);
  await Promise.all((await reparses(given)).map((message) => process(given, message)));
  const versions = new Set(given.events.of("index").map(({ docVersion }) => docVersion));
  assert.deepEqual([...versions], [1]);
  assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.docVersion, 1);
});

test("the parser is still busy: the message goes round again, after a pause", async () => {
  const { given, state } = await waiting();
  state.answer = "busy";
  await process(given);
  assert.deepEqual(await reparses(given), [MESSAGE]);
  assert.deepEqual((await urlRecord(given, "a.test", PAGE_ID))?.marks, { reparse: true });
});

test("a page that cannot be parsed keeps what it has, is marked, and does not go round", async () => {
  const { given, state } = await waiting();
  state.answer = "timeout";
  await process(given);
  const record = await urlRecord(given, "a.test", PAGE_ID);
  assert.deepEqual([record?.marks, record?.docVersion, record?.indexed], [{ parseFailed: true }, 0, undefined]);
  assert.equal(record?.lastReason, "parse-timeout", "it was parse-busy");
  assert.deepEqual(await reparses(given), []);
});

test("a stored object that is gone, or is another's: the page is marked, and the log says where", async () => {
  for (const change of [{ offset: 999_999 }, { length: 3 }, "another's"] as const) {
    const { given, state } = await waiting();
    const { content } = given.services.tables;
    for (const { key, rev, value } of await content.scan({ from: "", to: "z", limit: 1 })) {
      const other = given.archive.records().find(({ at }) => at.offset !== value.offset)!; // its request
      await content.compareAndSet(key, { ...value, ...(change === "another's" ? other.at : change) }, rev);
    }
    await process(given);
    assert.deepEqual((await urlRecord(given, "a.test", PAGE_ID))?.marks, { parseFailed: true });
    assert.equal(state.parsed, 0);
    assert.match(given.logged.join(), /cannot be read back .*"offset"/);
  }
});

/** The page after it was left behind, and then parsed by the transform or not at all. */
async function stored(how: "parsed" | "failed", reply: Reply = LINKED) {
  const { given, state } = await waiting(reply);
  state.answer = how === "parsed" ? "parse" : "memory";
  await process(given);
  state.answer = "parse";
  await discoveries(given);
  return { given, state };
}

async function again(given: ReturnType<typeof world>, change: Partial<UrlState> = {}) {
  const { urls } = given.services.tables;
  const key = rowKey("a.test", PAGE_ID);
  const [row] = await urls.get([key]);
  const value = { ...row!.value, ...change };
  const rev = (await urls.compareAndSet(key, value, row!.rev))!;
  const done = await reparseStored(given.services, given.config, { paceKey: "a.test", urlId: PAGE_ID, row: { rev, value } });
  return { done, before: value, after: (await urlRecord(given, "a.test", PAGE_ID))! };
}

test("a page that failed is parsed at last: links, document, event, no mark, no reason", async () => {
  const { given } = await stored("failed");
  const { done, after } = await again(given);
  assert.deepEqual(done, { kind: "parsed", index: "upsert" });
  assert.deepEqual([after.marks, after.docVersion, after.indexed, after.lastReason], [undefined, 1, true, undefined]);
  assert.equal((await discoveries(given)).length, 1);
  assert.equal(given.documents.lines.length, 1);
  assert.deepEqual(
    given.events.of("index").map(({ docVersion }) => docVersion),
    [1],
  );
});

test("a page that fails again stays marked and is not written", async () => {
  const { given, state } = await stored("failed");
  state.answer = "memory";
  const { done, before, after } = await again(given);
  assert.deepEqual(done, { kind: "failed", reason: "memory" });
  assert.deepEqual(after, before);
  assert.deepEqual(after.marks, { parseFailed: true });
});

test("a page that parses as its record says makes no document version, no link and no event", async () => {
  const { given, state } = await stored("parsed");
  const { done, before, after } = await again(given);
  assert.deepEqual([done, state.parsed], [{ kind: "unchanged" }, 2]);
  assert.deepEqual(after, before);
  assert.deepEqual(
    [(await discoveries(given)).length, given.documents.lines.length, given.events.of("index").length],
    [0, 1, 1],
  );
});

const otherwise: [what: string, change: Partial<UrlState>, messages: number][] = [
  ["words", { simHash: new Uint8Array(8) }, 0],
  ["links", { linkSetHash: new Uint8Array(8) }, 1],
];
for (const [what, change, messages] of otherwise)
  test(`a page that parses to other ${what} makes a new document version`, async () => {
    const { given } = await stored("parsed");
    const { done, after } = await again(given, change);
    assert.deepEqual(done, { kind: "parsed", index: "upsert" });
    assert.deepEqual([after.docVersion, after.marks, (await discoveries(given)).length], [2, undefined, messages]);
    assert.deepEqual(
      given.documents.lines.map((line) => JSON.parse(line).docVersion),
      [1, 2],
    );
  });

test("a page that turns out to be noindex is taken out of the index, once", async () => {
  const { given } = await stored("parsed", html(LINKED.body, { "x-robots-tag": "noindex" }));
  const first = await again(given, { indexed: true });
  assert.deepEqual(first.done, { kind: "parsed", index: "delete" });
  assert.equal(first.after.indexed, false);
  assert.deepEqual((await again(given)).done, { kind: "unchanged" });
});

test("a page that was withheld from the index stays out of it", async () => {
  const { given } = await stored("parsed");
  const withheld = await again(given, { indexed: false });
  assert.deepEqual([withheld.done, withheld.after.indexed], [{ kind: "unchanged" }, false]);
  const changed = await again(given, { simHash: new Uint8Array(8) });
  assert.deepEqual([changed.done, changed.after.indexed, given.events.of("index").length], [{ kind: "parsed" }, false, 1]);
});

test("an event that was decided and not published goes first, then the page", async () => {
  const { given } = await stored("failed");
  const first = await again(given, { marks: { index: "delete", parseFailed: true }, docVersion: 4, indexed: false });
  assert.deepEqual(first.done, { kind: "moved" });
  assert.deepEqual(first.after.marks, { parseFailed: true });
  await again(given);
  assert.deepEqual(
    given.events.of("index").map(({ op, docVersion }) => [op, docVersion]),
    [
      ["delete", 4],
      ["upsert", 5],
    ],
  );
});

const nothing: [situation: string, change: (record: UrlState) => UrlState, reason: string][] = [
  ["no body was kept", ({ contentHash: _, ...record }) => record, "no-body"],
  ["its document was taken away, or it is no page", ({ linkSetHash: _, ...record }) => record, "no-page"],
  ["its body has no place", (record) => ({ ...record, contentHash: new Uint8Array(20) }), "no-place"],
];
for (const [situation, change, reason] of nothing)
  test(`there is nothing to parse where ${situation}: no mark is made`, async () => {
    const { given, state } = await stored("parsed");
    const value = change((await urlRecord(given, "a.test", PAGE_ID))!);
    const page = { paceKey: "a.test", urlId: PAGE_ID, row: { rev: "r", value } };
    assert.deepEqual(await reparseStored(given.services, given.config, page), { kind: "missing", reason });
    assert.deepEqual([state.parsed, (await urlRecord(given, "a.test", PAGE_ID))?.marks], [1, undefined]);
  });

test("a record that moved on while its page was parsed, or could not be, is not written over", async () => {
  for (const answer of ["parse", "timeout"] as const) {
    const { given, state } = await waiting();
    state.answer = answer;
    const value = (await urlRecord(given, "a.test", PAGE_ID))!;
    const page = { paceKey: "a.test", urlId: PAGE_ID, row: { rev: "an old one", value } };
    assert.deepEqual(await reparseStored(given.services, given.config, page), { kind: "moved" });
    assert.deepEqual(await urlRecord(given, "a.test", PAGE_ID), value);
  }
});

/** A minute later, so that the host's clock allows it. */
async function visit(given: ReturnType<typeof world>, version: number): Promise<void> {
  const notBefore = given.clock.now() + 60_000;
  await given.clock.run(notBefore);
  await runLease(given, pageLease({ leaseId: `visit-${version}`, version, notBefore, startBy: notBefore + 10_000 }));
}

for (const answer of ["busy", "memory"] as const)
  test(`the same bytes come again after a parse that ended as ${answer}: they are parsed now, and are a document version`, async () => {
    const { given, state } = await waiting();
    await process(given);
    given.web.site[PAGE] = html("<title>two</title><p>other words</p><a href=/c>c</a>");
    state.answer = answer;
    await visit(given, 1);
    state.answer = "parse";
    await visit(given, 2);
    const record = await urlRecord(given, "a.test", PAGE_ID);
    assert.deepEqual([record?.lastOutcome, record?.docVersion, record?.marks], ["unchanged", 2, undefined]);
    assert.deepEqual(
      given.events.of("index").map(({ docVersion }) => docVersion),
      [1, 2],
    );
    assert.deepEqual(
      given.documents.lines.map((line) => JSON.parse(line).title),
      ["one", "two"],
    );
    const found = (await discoveries(given)).flatMap(({ urls }) => urls);
    assert.ok(found.includes("http://a.test/c"), "its links are published");
  });

test("a page of a later version is left to its own message, an unknown one to nobody", async () => {
  const { given, state } = await waiting();
  await process(given, { ...MESSAGE, version: 7 });
  await process(given, { ...MESSAGE, urlId: "none" });
  assert.equal(state.parsed, 0);
});

test("noindex of the stored answer's header counts", async () => {
  const { given } = await waiting(html(LINKED.body, { "x-robots-tag": "noindex" }));
  await process(given);
  assert.equal((await discoveries(given)).length, 1);
  assert.deepEqual([given.events.of("index"), given.documents.lines.length], [[], 0]);
});

test("the completion clears its other marks while the page is parsed: the page is not forgotten", async () => {
  const { given, state } = await waiting();
  const { urls } = given.services.tables;
  let raced = false;
  const racing: typeof urls = {
    ...urls,
    async compareAndSet(key, value, rev) {
      if (!raced) {
        raced = true;
        const [row] = await urls.get([rowKey("a.test", PAGE_ID)]);
        await urls.compareAndSet(key, row!.value, row!.rev);
      }
      return urls.compareAndSet(key, value, rev);
    },
  };
  await process(given, MESSAGE, { ...given.services, tables: { ...given.services.tables, urls: racing } });
  assert.equal(state.parsed, 1);
  for (const message of await reparses(given)) await process(given, message);
  assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.indexed, true);
});

test("not modified before it was parsed: the new version's message parses it", async () => {
  const { given } = await waiting();
  const lease = pageLease({ version: 1, leaseId: "l2" });
  const done = await completeDurably(given.services, lease, { outcome: "unchanged", status: 304 });
  await done?.afterwards();
  await process(given);
  assert.equal((await discoveries(given)).length, 0, "the old message is of an old version");
  for (const message of await reparses(given)) await process(given, message);
  assert.equal((await discoveries(given)).length, 1);
  assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.indexed, true);
});
