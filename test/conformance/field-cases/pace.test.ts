// Do the faults that crawlers in the field have shown stay away from the pace of hosts? The P cases, each as a test of its kind.
import assert from "node:assert/strict";
import { newFrontier } from "../../../core/frontier/state.ts";
import { planTurn } from "../../../core/frontier/turn.ts";
import { retryAfterMs } from "../../../core/http/retry-after.ts";
import { type Admission, admit } from "../../../core/politeness/admit.ts";
import { release } from "../../../core/politeness/release.ts";
import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../../../core/url/keys.ts";
import type { HostState } from "../../../schemas/host-state.ts";
import { limits } from "../../../schemas/limits.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import { DAY, facts, flight, host, NOW, policy, ready, url } from "../../core/frontier/given.ts";
import { lease, request } from "../../core/politeness/given.ts";
import { crawlInMemory } from "../../lib/crawl-in-memory.ts";
import { smallestGapMs } from "../../lib/judge.ts";
import { startWeb } from "../../lib/web-server.ts";
import { addUrl, allowAll, LINKED, PAGE, pageLease, runLease, type World } from "../../transforms/fetch/leases.ts";
import { dueEntries, reports, START, world } from "../../transforms/world.ts";
import { type FieldCase, fieldCases } from "./field-cases.ts";

const pageOf = (at: number) => `http://a.test/${at}`;

/** A URL of a host of its own, whose robots.txt allows all, due since the start. */
async function addAt({ tables }: CrawlServices, canonicalUrl: string): Promise<void> {
  const { urlId } = urlIdentity(canonicalUrl);
  const hostKey = hostKeyOf(canonicalUrl);
  const paceKey = paceKeyOfHost(hostKey);
  const value = url({ canonicalUrl, nextFetchAt: START });
  await tables.urls.insertIfAbsent([{ key: rowKey(paceKey, urlId), value }]);
  const open = { status: "allow-all" as const, fetchedAt: START, expiresAt: START + DAY };
  await tables.robots.insertIfAbsent([{ key: rowKey(paceKey, hostKey), value: open }]);
}

/** Runs a lease for it as often as it wants to run again. */
async function runAt(given: World, at: string, services: CrawlServices): Promise<void> {
  const hostKey = hostKeyOf(at);
  const own = pageLease({ url: at, leaseId: at, hostKey, paceKey: paceKeyOfHost(hostKey), startBy: START + DAY });
  for (let again = await runLease(given, own, services), times = 0; again !== undefined && times < 50; times++) {
    await given.clock.run(again);
    again = await runLease(given, own, services);
  }
}

function booked(record: HostState, admission: Admission): HostState {
  return admission.kind === "admitted" ? admission.host : record;
}

/** A host's record after an answer of this status to the request that stood in flight, and until when it rests. */
function restAfter(status: number, retryAfter: string | undefined): number {
  const waitMs = retryAfterMs(retryAfter, NOW);
  const end = { kind: "answered", status, sentAt: NOW - 50, answeredAt: NOW, endedAt: NOW, bodyBytes: 0 } as const;
  const told = waitMs === undefined ? end : { ...end, retryAfterMs: waitMs };
  return release(host({ inFlight: [flight()] }), policy(), "token-0", told, 0).backoffUntil - NOW;
}

const cases: FieldCase[] = [
  {
    id: "P1",
    holds: "of many that ask for a host in one window, one is let in",
    check() {
      let record = host();
      const kinds: string[] = [];
      for (let at = 0; at < 100; at++) {
        const ask = request({ token: `token-${at}`, lease: lease({ leaseId: `lease-${at}`, urlId: `url-${at}` }) });
        const admission = admit(record, ask, policy({ delayMs: 5_000 }), NOW + at * 10);
        record = booked(record, admission);
        kinds.push(admission.kind);
      }
      assert.deepEqual([kinds.filter((kind) => kind === "admitted").length, record.inFlight.length], [1, 1]);
    },
  },
  {
    id: "P3",
    holds: "a limit that is reached holds whichever way a request comes",
    check() {
      const full = host({ pages: 100 });
      for (const leaseId of ["lease-1", "another"])
        for (const kind of ["page", "sitemap"] as const) {
          const admission = admit(full, request({ lease: lease({ leaseId, kind }) }), policy({ pagesMax: 100 }), NOW);
          assert.ok(admission.kind === "refused" && admission.reason === "host-page-limit", kind);
        }
      const frontier = { ...newFrontier(NOW), ready: [ready("a"), ready("b")], nextDueAt: NOW + DAY };
      assert.deepEqual(planTurn(frontier, facts({ host: full, policy: policy({ pagesMax: 100 }) })).grants, []);
    },
  },
  {
    id: "P5",
    holds: "after an unclean restart every host is served again, and none before its time",
    async check() {
      const urls = [1, 2, 3].flatMap((at) => [`http://h${at}.test/a`, `http://h${at}.test/b`]);
      const given = world({ site: Object.fromEntries(urls.map((url) => [url, LINKED])) });
      for (const url of urls) await addAt(given.services, url);
      for (const url of urls.filter((each) => each.endsWith("a"))) await runAt(given, url, given.services);
      // Nothing but the stores outlives the process.
      for (const url of urls.filter((each) => each.endsWith("b"))) await runAt(given, url, given.restarted);
      assert.equal(given.web.log.length, urls.length);
      for (const at of [1, 2, 3]) {
        const [first, second] = given.web.log.filter((entry) => entry.url.startsWith(`http://h${at}.test/`));
        assert.ok(second!.at - first!.answeredAt >= given.config.delayMs, `h${at}: ${second!.at - first!.answeredAt} ms`);
      }
    },
  },
  {
    id: "P7",
    holds: "one host has one clock, whatever the scheme, and another port has another",
    check() {
      const keys = ["http://example.org/1", "https://example.org/2", "https://example.org:8443/", "http://example.org:443/"];
      assert.deepEqual(
        keys.map((url) => paceKeyOfHost(hostKeyOf(url))),
        ["example.org", "example.org", "example.org:8443", "example.org:443"],
      );
      const busy = host({ inFlight: [flight({ hostKey: "https://example.org" })] });
      assert.equal(admit(busy, request({ hostKey: "http://example.org" }), policy(), NOW).kind, "refused");
    },
  },
  {
    id: "P9",
    holds: "a lease that waited beyond its time is not used, and its URL is still due",
    async check() {
      const given = world({ site: { [PAGE]: LINKED } });
      await allowAll(given.services);
      await addUrl(given.services);
      await given.clock.run(START + 30_000);
      await runLease(given, pageLease({ startBy: START + 10_000 }));
      assert.equal(given.web.log.length, 0);
      assert.deepEqual(
        (await reports(given)).map(({ result, fetched }) => [result, fetched]),
        [["late", false]],
      );
      assert.equal((await dueEntries(given)).length, 1);
    },
  },
  {
    id: "P11",
    holds: "a host that asks for rest rests whole, and loses none of its URLs",
    async check() {
      const urls = Array.from({ length: 20 }, (_, at) => pageOf(at));
      const given = world({ site: Object.fromEntries(urls.map((url) => [url, { status: 429, headers: {} }])) });
      await allowAll(given.services);
      for (const canonicalUrl of urls) await addUrl(given.services, { canonicalUrl });
      for (const url of urls) await runLease(given, pageLease({ url, leaseId: url, notBefore: given.clock.now() }));
      assert.equal(given.web.log.length, 1);
      const results = (await reports(given)).map(({ result }) => result);
      assert.deepEqual([results[0], [...new Set(results.slice(1))]], ["throttled", ["backoff"]]);
      assert.equal((await dueEntries(given)).length, urls.length);
    },
  },
  {
    id: "P13",
    holds: "a wait until a date is a wait as long as that, in each form; one gone by leaves our own",
    check() {
      const own = restAfter(429, undefined);
      assert.ok(own >= limits.backoffMs);
      const ahead = new Date(NOW + 90_000);
      const [day, date, month, year, time] = ahead.toUTCString().replace(",", "").split(" ") as [
        string,
        string,
        string,
        string,
        string,
      ];
      const long = {
        Sun: "Sunday",
        Mon: "Monday",
        Tue: "Tuesday",
        Wed: "Wednesday",
        Thu: "Thursday",
        Fri: "Friday",
        Sat: "Saturday",
      };
      const rfc850 = `${long[day as keyof typeof long]}, ${date}-${month}-${year.slice(2)} ${time} GMT`;
      const asctime = `${day} ${month} ${date.replace(/^0/, " ")} ${time} ${year}`;
      for (const value of [ahead.toUTCString(), rfc850, asctime]) assert.equal(restAfter(429, value), 90_000, value);
      assert.equal(restAfter(429, new Date(NOW - 90_000).toUTCString()), own);
    },
  },
  {
    id: "P15",
    holds: "a wait of nothing, or of nonsense, leaves our own, never none",
    check() {
      for (const status of [429, 503]) {
        const own = restAfter(status, undefined);
        assert.ok(own >= limits.backoffMs);
        for (const value of ["0", "soon", "-5", "", " ", "NaN", "1e3x", "0x20", "+5", "00"])
          assert.equal(restAfter(status, value), own, value);
      }
    },
  },
  {
    id: "P17",
    holds: "URLs that came by a sitemap keep the same gaps as any other",
    async check() {
      const pages = Array.from({ length: 4 }, (_, at) => `/p${at}`);
      const listed = pages.map((path) => `<url><loc>http://maps.test${path}</loc></url>`).join("");
      const web = await startWeb({
        sites: {
          "maps.test": ({ path }) => {
            if (path === "/robots.txt") return { headers: { "content-type": "text/plain" }, body: "Sitemap: /map.xml" };
            if (path === "/map.xml") return { headers: { "content-type": "text/xml" }, body: `<urlset>${listed}</urlset>` };
            return { headers: { "content-type": "text/html" }, body: "<p>a page without links" };
          },
        },
      });
      try {
        await crawlInMemory({ port: web.port, seeds: ["http://maps.test/"], flags: ["--delay-ms", "150", "--sitemaps"] });
        const asked = web.log.filter(({ status }) => status === 200).map(({ path }) => path);
        assert.deepEqual(asked.sort(), ["/", "/map.xml", ...pages, "/robots.txt"]);
        assert.ok(smallestGapMs(web.log, "maps.test").answerToStart >= 150);
      } finally {
        await web.close();
      }
    },
  },
];

fieldCases("field cases P: the pace of hosts", cases);
