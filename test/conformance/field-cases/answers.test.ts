// Do the faults that crawlers in the field have shown stay away from answers, redirects and revisits? The H and C cases, each as a test of its kind.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { contentHash } from "../../../core/content/digest.ts";
import { simHash } from "../../../core/content/simhash.ts";
import { complete } from "../../../core/frontier/complete.ts";
import { outcomeOf } from "../../../core/http/outcome.ts";
import { hostKeyOf, urlIdentity } from "../../../core/url/keys.ts";
import { normalizeUrl } from "../../../core/url/normalize.ts";
import { seedScope } from "../../../core/url/scope.ts";
import { captureRecords } from "../../../core/warc/capture.ts";
import { cdxjLine, cdxjPlace } from "../../../core/warc/cdxj.ts";
import { headerOf, parseWarcRecord } from "../../../core/warc/read.ts";
import { labelledDigest } from "../../../core/warc/record.ts";
import { limits } from "../../../schemas/limits.ts";
import type { DiscoverMessage } from "../../../schemas/messages.ts";
import { discover } from "../../../transforms/discover.ts";
import { NOW, visited } from "../../core/frontier/given.ts";
import { sampleCapture } from "../../core/warc/sample.ts";
import { bodyLimits, httpAnswer, loopbackHttp, rawServer, send } from "../../io/http/fixtures.ts";
import { bundle } from "../../transforms/contexts.ts";
import { addUrl, allowAll, LINKED, PAGE, PAGE_ID, pageLease, runLease, type World } from "../../transforms/fetch/leases.ts";
import { discoveries, dueEntries, START, urlRecord, world } from "../../transforms/world.ts";
import { type FieldCase, fieldCases } from "./field-cases.ts";

const DAY = 86_400_000;

/** What a server of these bytes comes to: a failure's reason, or the body's text or end. */
async function readFrom(t: TestContext, bytes: string | Buffer, limit = {}): Promise<string> {
  const server = await rawServer(t, (socket) => void socket.end(bytes));
  const answer = await send(loopbackHttp(t), server.origin);
  if (!answer.ok) return answer.reason;
  const body = await answer.body({ ...bodyLimits, ...limit });
  return body.ok ? `${answer.status} ${Buffer.from(body.bytes)}`.slice(0, 20) : body.reason;
}

/** The next lease of a URL, when its host may be asked again. */
async function runNext(given: World, url: string): Promise<void> {
  await given.clock.run(given.clock.now() + 60_000);
  const { urlId } = urlIdentity(url);
  const record = (await urlRecord(given, "a.test", urlId))!;
  const notBefore = given.clock.now();
  const window = { notBefore, startBy: notBefore + 60_000 };
  await runLease(given, pageLease({ url, version: record.version, leaseId: `${urlId} ${record.version}`, ...window }));
}

async function discovered(given: World, messages: readonly DiscoverMessage[]): Promise<void> {
  const fn = discover.make(given.config, given.services);
  await fn.startBundle?.();
  for (const message of messages) await fn.process(message, bundle());
  await fn.finishBundle?.(bundle());
}

const cases: FieldCase[] = [
  {
    id: "H1",
    holds: "what begins with no status line has a reason",
    async check(t) {
      const heads = [
        "",
        "<p>hello\r\n\r\n",
        "HTTP/1.1 200: OK\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
      ];
      for (const head of heads) assert.match(await readFrom(t, head), /^(protocol|reset)$/, JSON.stringify(head));
    },
  },
  {
    id: "H3",
    holds: "a length that is none is a fault, not a crash",
    async check(t) {
      for (const length of ["thousand", "12\0", "-1", "1e3", "0x5", "5, 6", "99999999999999999999999", " "]) {
        const found = await readFrom(t, `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\nhello`);
        assert.match(found, /^(protocol|body-reset|wire-bytes|reset|200 hello)$/, JSON.stringify(length));
      }
    },
  },
  {
    id: "H5",
    holds: "a body as long as its limit is kept, one byte more is not",
    async check(t) {
      assert.equal(await readFrom(t, httpAnswer("7".repeat(1000)), { decodedBytes: 1000 }), `200 ${"7".repeat(16)}`);
      assert.equal(await readFrom(t, httpAnswer("7".repeat(1000)), { decodedBytes: 999 }), "decoded-bytes");
    },
  },
  {
    id: "H7",
    holds: "a good record stays, though a chain of redirects too long leads to it",
    async check() {
      const given = world({ site: { [PAGE]: LINKED } });
      await allowAll(given.services);
      await addUrl(given.services);
      await runLease(given, pageLease());
      const good = await urlRecord(given, "a.test", PAGE_ID);
      const hops = limits.redirectHops + 1;
      await discovered(given, [{ source: "redirect", depth: 1, hops, kind: "page", urls: [PAGE, "http://a.test/new"] }]);
      assert.equal(good?.lastOutcome, "fetched");
      assert.deepEqual(await urlRecord(given, "a.test", PAGE_ID), good);
      assert.equal(await urlRecord(given, "a.test", urlIdentity("http://a.test/new").urlId), undefined);
    },
  },
  {
    id: "H9",
    holds: "redirects that lead back to what was seen come to rest",
    async check() {
      const [one, two] = ["http://a.test/1", "http://a.test/2"];
      const to = (location: string) => ({ status: 302, headers: { location } });
      const given = world({ site: { [one]: to(two), [two]: to(one) } });
      await allowAll(given.services);
      await discovered(given, [{ source: "seed", depth: 0, hops: 0, kind: "page", urls: [one] }]);
      for (const url of [one, two, one, two]) {
        const due = (await dueEntries(given)).filter(({ dueAt }) => dueAt <= given.clock.now());
        if (due.some(({ urlId }) => urlId === urlIdentity(url).urlId)) await runNext(given, url);
        await discovered(given, await discoveries(given));
      }
      assert.equal(given.web.log.length, 2);
      assert.ok((await dueEntries(given)).every(({ dueAt }) => dueAt > given.clock.now() + DAY));
    },
  },
  {
    id: "H11",
    holds: "a small body that grows is cut at the limit after decoding",
    async check(t) {
      const zeros = Buffer.alloc(24 * 1024 * 1024);
      const brotli = brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
      for (const [coding, bytes] of [
        ["gzip", gzipSync(zeros, { level: 1 })],
        ["br", brotli],
      ] as const)
        assert.equal(await readFrom(t, httpAnswer(bytes, `Content-Encoding: ${coding}\r\n`)), "decoded-bytes", coding);
    },
  },
  {
    id: "H13",
    holds: "cookies, whatever their form, are neither a fault nor kept",
    async check() {
      const headers = { "content-type": "text/html", "set-cookie": "foo=" };
      const given = world({ site: { [PAGE]: { status: 200, headers, body: "<p>x" } } });
      await allowAll(given.services);
      await addUrl(given.services);
      for (let times = 0; times < 2; times++) await runNext(given, PAGE);
      assert.deepEqual(
        given.web.log.map((request) => Object.keys(request.headers).includes("cookie")),
        [false, false],
      );
      assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.lastOutcome, "unchanged");
    },
  },
  {
    id: "H15",
    holds: "the body of an answer that is no page is not read, and the URL comes to its end",
    async check() {
      for (const status of [401, 403, 407, 451]) {
        // A body that is read would end in a reason of its own.
        const given = world({ site: { [PAGE]: { status, headers: {}, body: "x".repeat(100_000), bodyFails: "wire-bytes" } } });
        await allowAll(given.services);
        await addUrl(given.services);
        await runLease(given, pageLease());
        const record = await urlRecord(given, "a.test", PAGE_ID);
        assert.deepEqual([record?.lastOutcome, record?.lastStatus, record?.lastReason], ["client-error", status, undefined]);
        assert.equal(given.archive.records().length, 0);
      }
    },
  },
  {
    id: "H17",
    holds: "a seed that leads to another site leaves the bounds where they were",
    async check() {
      const given = world({
        site: { [PAGE]: { status: 301, headers: { location: "http://b.test/" } } },
        config: { scope: seedScope("host", [PAGE], []) },
      });
      await allowAll(given.services);
      await addUrl(given.services);
      await runLease(given, pageLease());
      const told = await discoveries(given);
      assert.deepEqual(
        told.map(({ urls }) => urls),
        [["http://b.test/"]],
      );
      await discovered(given, [...told, { source: "link", depth: 1, hops: 0, kind: "page", urls: ["http://a.test/in"] }]);
      assert.equal(await urlRecord(given, "b.test", urlIdentity("http://b.test/").urlId), undefined);
      assert.notEqual(await urlRecord(given, "a.test", urlIdentity("http://a.test/in").urlId), undefined);
    },
  },
  {
    id: "C1",
    holds: "not modified means unchanged, whatever the visits before it found",
    check() {
      for (const changed of [true, false]) {
        const before = visited({ changeHistory: [{ afterMs: DAY, changed }], contentHash: contentHash(Buffer.from("new")) });
        const { after, changed: now } = complete(before, "lease-1", { outcome: "unchanged", status: 304, sentAt: NOW }, NOW);
        assert.equal(now, false);
        assert.equal(after.changeHistory?.at(-1)?.changed, false);
        assert.deepEqual(
          [after.contentHash, after.simHash, after.docVersion],
          [before.contentHash, before.simHash, before.docVersion],
        );
      }
    },
  },
  {
    id: "C3",
    holds: "not modified, where nothing was asked to be, takes nothing away, and the URL is asked for again",
    async check() {
      assert.equal(outcomeOf(304, false, false), "server-error");
      const replies = [{ status: 200, headers: { "content-type": "text/html" }, body: "<p>x" }, { status: 304 }, LINKED];
      const given = world({ site: { [PAGE]: ({ times }) => replies[times]! } });
      await allowAll(given.services);
      await addUrl(given.services);
      await runNext(given, PAGE);
      const good = await urlRecord(given, "a.test", PAGE_ID);
      await runNext(given, PAGE);
      const kept = await urlRecord(given, "a.test", PAGE_ID);
      assert.deepEqual([kept?.contentHash, kept?.docVersion, kept?.indexed], [good?.contentHash, good?.docVersion, true]);
      assert.ok(kept!.nextFetchAt < given.clock.now() + DAY);
      await runNext(given, PAGE);
      assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.lastOutcome, "fetched");
      for (const { headers } of given.web.log) assert.ok(!("if-none-match" in headers) && !("if-modified-since" in headers));
    },
  },
  {
    id: "C5",
    holds: "the next visit lies ahead, a day to thirty, however long ago the last change was",
    check() {
      for (const ago of [0, 1, DAY, 400 * DAY, 20_000 * DAY])
        for (const changed of [true, false]) {
          const before = visited({ lastFetchAt: NOW - ago, changeHistory: [{ afterMs: ago, changed }] });
          const content = { hash: changed ? new Uint8Array(20) : before.contentHash!, reparse: false };
          const outcome = changed ? "fetched" : "unchanged";
          const { after } = complete(before, "lease-1", { outcome, status: 200, sentAt: NOW, content }, NOW);
          const wait = after.nextFetchAt - NOW;
          assert.ok(wait >= DAY && wait <= 30 * DAY, `${ago} ${changed}: ${wait}`);
        }
    },
  },
  {
    id: "C7",
    holds: "an escape that is none in a URL stops nothing that is computed of it",
    check() {
      for (const path of ["%zz", "%", "%e", "a%zz%41?%=%&%%", "%c3%28", "%\u0000"]) {
        const normal = normalizeUrl(`http://example.org/${path}`);
        assert.ok(normal.ok, path);
        const { urlId } = urlIdentity(normal.url);
        assert.match(`${urlId} ${hostKeyOf(normal.url)}`, /^\S+ http:\/\/example\.org$/);
        const fields = { url: normal.url, at: START, status: 200, mime: "text/html", digest: "-" };
        assert.notEqual(cdxjPlace(cdxjLine(fields, { segment: "s", offset: 0, length: 1 }).trim()), undefined);
        assert.equal(simHash(normal.url).length, 16);
      }
    },
  },
  {
    id: "C9",
    holds: "the record of a 304 names what it vouches for, and has no digest of no bytes",
    async check() {
      const page = { ...LINKED, headers: { ...LINKED.headers, etag: '"1"' } };
      const given = world({ site: { [PAGE]: ({ times }) => (times === 0 ? page : { status: 304, headers: {} }) } });
      await allowAll(given.services);
      await addUrl(given.services);
      for (let times = 0; times < 2; times++) await runNext(given, PAGE);
      const [original, revisit] = [1, 3].map((at) => parseWarcRecord(Buffer.concat(given.archive.records()[at]!.bytes)));
      assert.ok(original?.ok && revisit?.ok);
      assert.deepEqual((await urlRecord(given, "a.test", PAGE_ID))?.contentHash, contentHash(Buffer.from(LINKED.body)));
      assert.equal(headerOf(revisit.headers, "WARC-Refers-To-Date"), headerOf(original.headers, "WARC-Date"));
      assert.notEqual(headerOf(revisit.headers, "WARC-Payload-Digest"), labelledDigest([]));
      const digest = headerOf(original.headers, "WARC-Payload-Digest")!;
      const of = { url: PAGE, at: START, profile: "server-not-modified", digest } as const;
      const [, told] = captureRecords(sampleCapture({ status: 304, body: new Uint8Array(), revisitOf: of }));
      assert.equal(told.index?.digest, digest);
    },
  },
];

fieldCases("field cases H and C: answers, redirects, revisits", cases);
