import assert from "node:assert/strict";
import { test } from "node:test";
import { inlineParser } from "../../io/parsing/inline.ts";
import type { Parser } from "../../ports/parser.ts";
import type { ReparseMessage } from "../../schemas/messages.ts";
import { rowKey } from "../../schemas/row-key.ts";
import { completeDurably } from "../../transforms/fetch/complete.ts";
import { reparse } from "../../transforms/reparse.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { bundle } from "./contexts.ts";
import type { Reply } from "./fake-web.ts";
import { addUrl, allowAll, html, LINKED, PAGE, PAGE_ID, pageLease, runLease } from "./fetch/leases.ts";
import { discoveries, dueFaults, reparses, urlRecord, world } from "./world.ts";

const MESSAGE: ReparseMessage = { paceKey: "a.test", urlId: PAGE_ID, version: 1 };

/** A page that was fetched while the parser was busy; from then on it is as `busy` says. */
async function waiting(reply: Reply = LINKED) {
  const state: { answer: "busy" | "timeout" | "parse"; parsed: number } = { answer: "busy", parsed: 0 };
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

test("a page that cannot be parsed loses its mark and keeps what it has", async () => {
  const { given, state } = await waiting();
  state.answer = "timeout";
  await process(given);
  const record = await urlRecord(given, "a.test", PAGE_ID);
  assert.deepEqual([record?.marks, record?.docVersion, record?.indexed], [undefined, 0, undefined]);
  assert.deepEqual(await reparses(given), []);
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
  await completeDurably(given.services, pageLease({ version: 1, leaseId: "l2" }), { outcome: "unchanged", status: 304 });
  await process(given);
  assert.equal((await discoveries(given)).length, 0, "the old message is of an old version");
  for (const message of await reparses(given)) await process(given, message);
  assert.equal((await discoveries(given)).length, 1);
  assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.indexed, true);
});
