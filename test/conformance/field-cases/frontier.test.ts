// Do the faults that crawlers in the field have shown stay away from queue, leases and completion? The F cases, each as a test of its kind.
import assert from "node:assert/strict";
import { candidatesOf, newUrl } from "../../../core/frontier/candidates.ts";
import { complete, priorResult } from "../../../core/frontier/complete.ts";
import { select } from "../../../core/frontier/refill.ts";
import { newFrontier } from "../../../core/frontier/state.ts";
import { planTurn } from "../../../core/frontier/turn.ts";
import { admit } from "../../../core/politeness/admit.ts";
import { parseSitemap } from "../../../core/sitemap/parse.ts";
import { withinFanOut } from "../../../core/traps/fan-out.ts";
import { systemResolver } from "../../../io/http/dns.ts";
import { memoryMetrics } from "../../../io/metrics.ts";
import { sleep } from "../../../ports/clock.ts";
import { limits } from "../../../schemas/limits.ts";
import type { DiscoverMessage } from "../../../schemas/messages.ts";
import { outcomes } from "../../../schemas/reasons.ts";
import { dueKey } from "../../../schemas/row-key.ts";
import { priorityClasses } from "../../../schemas/url-state.ts";
import { fetchPool } from "../../../transforms/fetch/pool.ts";
import { DAY, facts, flight, host, NOW, policy, ready, url, visited } from "../../core/frontier/given.ts";
import { pageOf } from "../../core/html/page-of.ts";
import { lease, request } from "../../core/politeness/given.ts";
import { handClock } from "../../io/http/fixtures.ts";
import { virtualClock } from "../../lib/virtual-clock.ts";
import { addUrl, allowAll, html, LINKED, PAGE, PAGE_ID, pageLease, runLease } from "../../transforms/fetch/leases.ts";
import { crawlConfig, dueEntries, START, urlRecord, world } from "../../transforms/world.ts";
import { type FieldCase, fieldCases } from "./field-cases.ts";
import { nameServer } from "./name-server.ts";

const cases: FieldCase[] = [
  {
    id: "F1",
    holds: "a page that calls another its canonical completes under its own name",
    async check() {
      const canonical = "http://a.test/canonical";
      const page = html(`<link rel=canonical href="${canonical}"><p>words of a page</p>`);
      const given = world({ site: { [PAGE]: page } });
      await allowAll(given.services);
      await addUrl(given.services);
      await runLease(given, pageLease());
      const record = await urlRecord(given, "a.test", PAGE_ID);
      assert.deepEqual([record?.canonicalUrl, record?.version, record?.lastOutcome], [PAGE, 1, "fetched"]);
      const due = await dueEntries(given);
      assert.deepEqual(
        due.map(({ urlId }) => urlId),
        [PAGE_ID],
      );
      assert.ok(due[0]!.dueAt >= START + DAY);
    },
  },
  {
    id: "F3",
    holds: "what was taken for a sitemap and is none can be asked for again",
    async check() {
      for (const reply of [
        LINKED,
        html(""),
        { status: 404, headers: {} },
        { status: 200, headers: {}, body: "\u0000\u0001" },
      ]) {
        const given = world({ site: { [PAGE]: reply } });
        await allowAll(given.services);
        await addUrl(given.services, { kind: "sitemap", priority: 0 });
        await runLease(given, pageLease({ kind: "sitemap" }));
        const record = await urlRecord(given, "a.test", PAGE_ID);
        assert.equal(record?.version, 1);
        const [due] = await dueEntries(given);
        assert.ok(due !== undefined && due.urlId === PAGE_ID && due.dueAt <= START + limits.goneRevisitMs);
      }
    },
  },
  {
    id: "F5",
    holds: "links to the page itself, and a link again, take no new link's place",
    check() {
      const self = "http://example.org/d/me.html";
      const fresh = "http://example.org/new";
      assert.deepEqual(withinFanOut([...new Array<string>(10).fill(self), fresh], self, 10), { urls: [fresh], refused: 0 });
      assert.deepEqual(withinFanOut([...new Array<string>(10).fill(fresh), `${fresh}2`], self, 2).urls, [fresh, `${fresh}2`]);
      const { links } = pageOf(`${'<a href="me.html#x">'.repeat(limits.linksPerPage + 5)}<a href="/new">`);
      assert.ok(links.includes(fresh));
    },
  },
  {
    id: "F7",
    holds: "a completion that comes again changes nothing",
    check() {
      for (const outcome of outcomes) {
        const before = visited({ failureCount: 2 });
        const own = { leaseId: "lease-9", version: before.version };
        assert.equal(priorResult(before, own), undefined);
        const { after } = complete(before, "lease-9", { outcome }, NOW);
        assert.equal(after.version, before.version + 1);
        assert.equal(priorResult(after, own), "already", outcome);
        assert.equal(priorResult(after, { ...own, leaseId: "another" }), "stale", outcome);
      }
    },
  },
  {
    id: "F9",
    holds: "a slow worker holds no more than its limit, however much there is to do",
    async check() {
      const clock = virtualClock(START);
      let most = 0;
      let ran = 0;
      const pool = fetchPool({
        slots: 1,
        clock,
        metrics: memoryMetrics(),
        async run() {
          await sleep(clock, 60_000);
          ran++;
          return undefined;
        },
        turnAway: async () => {},
      });
      let taken = 0;
      for (let at = 0; at < 20; at++)
        void pool.take(lease({ leaseId: String(at), notBefore: START })).then(() => {
          taken++;
          most = Math.max(most, pool.held);
        });
      for (let minute = 0; minute <= 21; minute++) {
        await clock.run(START + minute * 60_000);
        assert.ok(pool.held <= 3 && taken - ran <= 3, `${taken} taken, ${ran} ran`);
      }
      assert.deepEqual([most, ran], [3, 20]);
    },
  },
  {
    id: "F11",
    holds: "a name that was not there, or whose server was ill, is found when it is",
    async check(t) {
      const { server, addresses } = await nameServer(t, {});
      const clock = handClock();
      const resolver = systemResolver({ clock, servers: [server] });
      t.after(() => resolver.close());
      assert.equal((await resolver.resolve("late.example.org")).ok, false);
      addresses["late.example.org"] = ["192.0.2.1"];
      clock.advance(limits.dnsFailureTtlMs);
      const asked = resolver.resolve("late.example.org");
      assert.deepEqual(await asked, { ok: true, addresses: ["192.0.2.1"] });
    },
  },
  {
    id: "F13",
    holds: "a priority is one of a few classes, sorts by them, and is never taken from outside",
    check() {
      const keys = priorityClasses.map((priority) => dueKey({ paceKey: "a.test", priority, dueAt: START, urlId: "x" }));
      assert.deepEqual(keys.toSorted(), keys);
      for (const source of ["seed", "link", "sitemap", "redirect"] as const) {
        const message: DiscoverMessage = { source, depth: 0, hops: 0, kind: "page", urls: [PAGE] };
        const [candidate] = candidatesOf(message, crawlConfig()).candidates;
        const { priority } = newUrl(candidate!, message, NOW);
        assert.ok(
          priorityClasses.some((each) => each === priority),
          source,
        );
      }
      for (const claimed of ["1000", "128", "-1", "1e9", "Infinity"]) {
        const map = `<urlset><url><loc>http://a.test/1</loc><priority>${claimed}</priority></url></urlset>`;
        const parsed = parseSitemap(Buffer.from(map), "http://a.test/map.xml", "text/xml");
        assert.ok(parsed.kind === "urls" && parsed.entries.length === 1);
        assert.equal(parsed.entries[0]!.priority, undefined, claimed);
      }
    },
  },
  {
    id: "F15",
    holds: "while a URL's completion is under way it gets no second lease, and a second execution no request",
    check() {
      const frontier = { ...newFrontier(NOW), ready: [ready("a")], nextDueAt: NOW + DAY };
      const first = planTurn(frontier, facts());
      assert.equal(first.grants.length, 1);
      const key = dueKey({ paceKey: "example.org", priority: 1, dueAt: NOW - 1_000, urlId: "id-a" });
      assert.deepEqual(select(first.state, [[], [key], [], []], 10, NOW + 5_000).taken, []);
      assert.equal(select({ ...first.state, leases: [] }, [[], [key], [], []], 10, NOW + 5_000).taken.length, 1);
      const own = lease();
      const underWay = host({ inFlight: [flight({ urlId: own.urlId })] });
      const twin = admit(underWay, request({ lease: lease({ leaseId: "another" }) }), policy({ concurrency: 4 }), NOW);
      assert.ok(twin.kind === "refused" && twin.reason === "duplicate");
      assert.equal(priorResult(url({ version: 1 }), { leaseId: "another", version: 0 }), "stale");
    },
  },
];

fieldCases("field cases F: queue, leases, completion", cases);
