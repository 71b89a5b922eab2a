import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../../../schemas/limits.ts";
import type { ParsedPage } from "../../../schemas/parsed-page.ts";
import { writeDocument } from "../../../transforms/fetch/document.ts";
import { publishDiscoveries } from "../../../transforms/fetch/publish.ts";
import { takeLinks } from "../../../transforms/fetch/take-body.ts";
import { bytes, url, visited } from "../../core/frontier/given.ts";
import { discoveries, urlRecord, world } from "../world.ts";
import { addUrl, allowAll, html, PAGE, PAGE_ID, pageLease, runLease } from "./leases.ts";

const page = (change: Partial<ParsedPage> = {}): ParsedPage => ({
  ok: true,
  links: ["http://a.test/1"],
  refused: { nofollow: 0, malformed: 0, scheme: 0, fanOut: 0 },
  title: "one",
  noindex: false,
  nofollow: false,
  simHash: "0123456789abcdef",
  linkSetHash: bytes(1, 8),
  quality: { textChars: 1, linkCount: 1, textRatioPercent: 1, hasTitle: true },
  ...change,
});

test("links are published one deeper, a meta refresh among them, unless the set is the one last published", async () => {
  const given = world();
  await takeLinks(given.services, PAGE, url({ depth: 4 }), page({ refresh: "http://a.test/r" }));
  await takeLinks(given.services, PAGE, visited({ linkSetHash: bytes(1, 8) }), page());
  await takeLinks(given.services, PAGE, url(), page({ links: [] }));
  assert.deepEqual(await discoveries(given), [
    { source: "link", from: PAGE, depth: 5, hops: 0, kind: "page", urls: ["http://a.test/1", "http://a.test/r"] },
  ]);
});

test("links that a page refuses are counted by reason", async () => {
  const given = world();
  await takeLinks(given.services, PAGE, url(), page({ refused: { nofollow: 2, malformed: 0, scheme: 3, fanOut: 4 } }));
  assert.deepEqual(given.metrics.totalsBy("gleaner_refusals_total", "reason"), { nofollow: 2, scheme: 3, "fan-out": 4 });
});

test("a page of very many links is discovered whole, in messages within their limits", async () => {
  const given = world();
  const links = Array.from({ length: 2_500 }, (_, index) => `http://a.test/${index}`);
  await takeLinks(given.services, PAGE, url(), page({ links }));
  const messages = await discoveries(given);
  assert.deepEqual(
    messages.flatMap(({ urls }) => urls),
    links,
  );
  assert.ok(messages.length === 3 && messages.every(({ urls }) => urls.length <= limits.discoverUrls));
});

test("nothing found is no message", async () => {
  const given = world();
  await publishDiscoveries(given.services, { source: "link", depth: 0, hops: 0, kind: "page", urls: [] });
  assert.equal(await given.services.queues.discover.depth(), 0);
});

test("a document carries the key of its index event and where its page is stored; without one nothing is written", async () => {
  const given = world();
  const ref = { segment: "s", offset: 5, length: 9, url: PAGE, storedAt: 1 };
  const job = { lease: { urlId: PAGE_ID, url: PAGE }, before: visited(), ref, hash: bytes(7), fetchedAt: 8 };
  await writeDocument(given.services, { ...job, page: page() });
  assert.deepEqual(given.documents.lines, []);
  const document = { text: "words", headings: [{ level: 1, text: "h" }], structuredData: [] };
  await writeDocument(given.services, { ...job, page: page({ document, language: "en", canonical: "http://a.test/c" }) });
  const written = JSON.parse(given.documents.lines[0]!);
  assert.deepEqual(
    [written.urlId, written.docVersion, written.segment, written.offset, written.length, written.contentHash, written.language],
    [PAGE_ID, 3, "s", 5, 9, "07".repeat(20), "en"],
  );
  assert.equal(given.metrics.total("gleaner_documents_total"), 1);
});

test("a page leads to no more URLs than its policy allows, and what is beyond is told; repeats and itself cost no place (F5)", async () => {
  const given = world({ config: { policies: [{ host: "a.test", limits: { linksPerPage: 2 } }] } });
  const links = [PAGE, "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4"];
  await takeLinks(given.services, PAGE, url(), page({ links }));
  assert.deepEqual(
    (await discoveries(given)).flatMap(({ urls }) => urls),
    ["http://a.test/1", "http://a.test/2"],
  );
  const [skip] = given.events.of("skip");
  assert.deepEqual([skip?.reason, skip?.count, skip?.samples], ["fan-out", 2, [PAGE]]);
});

test("what a host answers to whatever is asked is kept, and is no page: no links, no document, no index event", async () => {
  const answer = html('<title>Sorry</title><p>this is what we say to everybody</p><a href="/more">more</a>');
  const urls = Array.from({ length: 12 }, (_, index) => `http://a.test/any/${index}`);
  const site = Object.fromEntries(urls.map((each) => [each, answer]));
  const given = world({ site, config: { policies: [{ host: "a.test", delayMs: 0, limits: { softNotFoundUrls: 5 } }] } });
  await allowAll(given.services);
  for (const [index, each] of urls.entries()) {
    await addUrl(given.services, { canonicalUrl: each });
    await runLease(given, pageLease({ url: each, leaseId: `lease-${index}` }));
  }
  const reasons = given.events.of("fetch").map(({ reason }) => reason);
  const before = reasons.indexOf("soft-404");
  assert.ok(before >= 5 && before <= 7, `the first ${before} were taken for pages`);
  assert.ok(reasons.slice(before).every((reason) => reason === "soft-404"));
  assert.equal(given.events.of("index").length, before);
  assert.equal(given.documents.lines.length, before);
  assert.equal((await discoveries(given)).length, before);
  assert.equal((await urlRecord(given, "a.test", pageLease({ url: urls.at(-1)! }).urlId))?.indexed, undefined);
});

test("a sitemap of another host that the host's robots.txt names lists its URLs, and no third one's (S13)", async () => {
  const locs = ["http://a.test/own", "http://www.test/named", "http://third.test/x"];
  const body = `<urlset>${locs.map((loc) => `<url><loc>${loc}</loc></url>`).join("")}</urlset>`;
  const given = world({ site: { [PAGE]: { status: 200, headers: { "content-type": "application/xml" }, body } } });
  await allowAll(given.services);
  await addUrl(given.services, { kind: "sitemap", vouchedBy: "www.test" });
  await runLease(given, pageLease({ kind: "sitemap" }));
  assert.deepEqual(
    (await discoveries(given)).flatMap(({ urls }) => urls),
    locs.slice(0, 2),
  );
});
