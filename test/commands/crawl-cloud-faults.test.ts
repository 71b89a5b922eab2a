// What becomes of a crawl in the cloud when its services fail, are away, are killed, or were never set up? On emulators behind proxies.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openPubsub } from "../../io/queues/pubsub-client.ts";
import { pubsubNames } from "../../io/queues/pubsub-names.ts";
import { seededRandom } from "../../io/random.ts";
import { bigtableClient } from "../../io/stores/bigtable/client.ts";
import type { Call } from "../emulators/calls.ts";
import { cloudTests } from "../emulators/cloud-tests.ts";
import { type GrpcFault, startGrpcFaultProxy } from "../emulators/grpc-fault-proxy.ts";
import { type HttpFault, startHttpFaultProxy } from "../emulators/http-fault-proxy.ts";
import type { Emulators } from "../emulators/start.ts";
import { cloudEvents, PROJECT, setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";
import { askedPaths, html, links, reportOf, runCommand, startCommand } from "../lib/crawl-command.ts";
import { concurrencyMax, smallestGapMs } from "../lib/judge.ts";
import { type SiteHandler, startWeb, type Web } from "../lib/web-server.ts";

const UNAVAILABLE = 14; // of google.rpc.Code
const DELAY_MS = 100;
const PAGES = 8; // of each host: some ten seconds, since a lease of the cloud ends with its commit
const HOSTS = ["a.test", "b.test"];

const book: SiteHandler = ({ path }) => {
  const page = /^\/(\d+)$/.exec(path)?.[1];
  if (page === undefined) return { status: 404, headers: html, body: "none" };
  const pages = Array.from({ length: PAGES }, (_, at) => `/${at}`);
  return { headers: html, body: `<title>${page}</title><p>Text of page ${page}</p>${links(...pages)}` };
};

async function onWeb(run: (web: Web, flags: string[]) => Promise<void>): Promise<void> {
  const web = await startWeb({ sites: Object.fromEntries(HOSTS.map((host) => [host, book])) });
  const seeds = HOSTS.map((host) => `http://${host}/0`);
  const way = ["--connect-to", `*.test:*=127.0.0.1:${web.port}`, "--allow-address", "127.0.0.0/8"];
  try {
    await run(web, [...seeds, ...way, "--delay-ms", String(DELAY_MS), "--idle-horizon", "30"]);
  } finally {
    await web.close();
  }
}

await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
  let undo: () => void;
  before(() => {
    undo = withEnvironment(emulators().env);
  });
  after(() => undo());

  test("services that refuse, lose answers, do twice and are slow cost no page and no politeness", async () => {
    const chance = seededRandom(7);
    const fault = (code: number) => {
      const draw = chance.next();
      if (draw < 0.02) return { kind: "refuse", code } as const;
      if (draw < 0.04) return { kind: "lose-answer", code } as const;
      if (draw < 0.06) return { kind: "slow", ms: 300 } as const;
      return draw < 0.08 ? ({ kind: "double", heard: "first" } as const) : undefined;
    };
    const grpc = (): GrpcFault | undefined => fault(14);
    await throughProxies(emulators(), { bigtable: grpc, pubsub: grpc, http: () => httpFault(fault(503)) }, () =>
      crawledWhole(),
    );
  });

  for (const service of ["bigtable", "pubsub", "storage"] as const)
    test(`${service} away for five seconds is waited for; then the crawl goes on to its last page`, async () => {
      let away = false;
      const isAway = (of: string): boolean => away && of === service;
      const grpc = (of: string) => (): GrpcFault | undefined =>
        isAway(of) ? { kind: "refuse", code: UNAVAILABLE } : undefined;
      const http = (): HttpFault | undefined => (isAway("storage") ? { kind: "refuse", status: 503 } : undefined);
      const faults = { bigtable: grpc("bigtable"), pubsub: grpc("pubsub"), http };
      const outage = async (): Promise<void> => {
        away = true;
        await pause(5_000);
        away = false;
      };
      await throughProxies(emulators(), faults, () => crawledWhole(outage));
    });

  /** Whether all pages were fetched, each once, with the delay kept; `meanwhile` begins with the third page. */
  async function crawledWhole(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const cloud = await setUpCrawl();
    await onWeb(async (web, flags) => {
      const running = startCommand([...flags, ...cloud.flags, "--json"]);
      const begun = until(() => askedPaths(web.log).length > 2).then(meanwhile);
      const report = reportOf(await running.ended, 0);
      await begun;
      assert.equal(report.outcomes.fetched, HOSTS.length * PAGES);
      for (const host of HOSTS) {
        assert.equal(new Set(askedPaths(web.log, host)).size, PAGES, host);
        const gapMs = smallestGapMs(web.log, host).answerToStart;
        assert.ok(gapMs >= DELAY_MS, `${host}: ${gapMs} ms`);
        assert.equal(concurrencyMax(web.log, host), 1, host);
      }
      const told = await cloudEvents(emulators(), cloud, "index");
      assert.equal(new Set(told.map(({ urlId, docVersion }) => `${urlId} ${docVersion}`)).size, HOSTS.length * PAGES);
    });
  }

  test("a Bigtable that is gone for good ends the crawl with a line that names it, and code 5", async () => {
    const cloud = await setUpCrawl();
    await onWeb(async (web, flags) => {
      const running = startCommand([...flags, ...cloud.flags]);
      await until(() => askedPaths(web.log).length > 2);
      await emulators().kill("bigtable");
      const { code, stderr } = await running.ended;
      await emulators().restart("bigtable");
      assert.equal(code, 5, stderr);
      assert.match(stderr, /of Bigtable instance gleaner in project test-project/);
      const again = await runCommand([...flags, ...cloud.flags]); // it keeps nothing
      assert.equal(again.code, 5);
      assert.match(again.stderr, /table crawl-\S+-meta of .* does not exist: .*npm run set-up/);
    });
  });

  const missing: [what: string, remove: (crawl: string) => Promise<unknown>, told: RegExp][] = [
    [
      "a table",
      async (crawl) => {
        const client = bigtableClient({ project: PROJECT });
        await client.instance("gleaner").table(`${crawl}-urls`).delete();
        await client.close();
      },
      /table crawl-\S+-urls of Bigtable instance gleaner in project test-project does not exist: .*npm run set-up/,
    ],
    [
      "a subscription",
      async (crawl) => {
        const client = await openPubsub({ project: PROJECT });
        await client.subscriber.deleteSubscription({ subscription: pubsubNames(PROJECT, crawl).queues.host.subscription });
        await client.close();
      },
      /subscription crawl-\S+-host of Pub\/Sub in project test-project does not exist: run npm run set-up/,
    ],
    ["the bucket", async () => {}, /gs:\/\/no-such-bucket.*there is no such bucket: make it by npm run set-up/],
  ];
  for (const [what, remove, told] of missing)
    test(`without ${what} the crawl ends with a line that says which and what to do, and code 5`, async () => {
      const { crawl, flags: stores } = await setUpCrawl();
      await remove(crawl);
      const elsewhere = what === "the bucket" ? ["--bucket", "no-such-bucket"] : [];
      await onWeb(async (web, flags) => {
        const { code, stderr } = await runCommand([...flags, ...stores, ...elsewhere]);
        assert.equal(code, 5, stderr);
        assert.match(stderr, told);
        assert.deepEqual(askedPaths(web.log), []);
      });
    });
});

interface Faults {
  bigtable: (call: Call) => GrpcFault | undefined;
  pubsub: (call: Call) => GrpcFault | undefined;
  http: (call: Call) => HttpFault | undefined;
}

/** Runs with the environment leading to proxies before the emulators. */
async function throughProxies(emulators: Emulators, faults: Faults, run: () => Promise<void>): Promise<void> {
  const proxies = await Promise.all([
    startGrpcFaultProxy({ target: emulators.endpoint("bigtable"), faults: faults.bigtable }),
    startGrpcFaultProxy({ target: emulators.endpoint("pubsub"), faults: faults.pubsub }),
    startHttpFaultProxy({ target: emulators.endpoint("storage"), faults: faults.http }),
  ]);
  const [bigtable, pubsub, storage] = proxies.map(({ endpoint }) => endpoint);
  const undo = withEnvironment({
    BIGTABLE_EMULATOR_HOST: bigtable!,
    PUBSUB_EMULATOR_HOST: pubsub!,
    STORAGE_EMULATOR_HOST: `http://${storage}`,
  });
  try {
    await run();
  } finally {
    undo();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  }
}

function httpFault(fault: GrpcFault | undefined): HttpFault | undefined {
  return fault !== undefined && "code" in fault ? { kind: fault.kind, status: 503 } : fault;
}

/** Two minutes: where faults meet a host's robots.txt, its first page comes behind pauses of 15 s, 30 s and so on. */
const WAITS_MAX = 2_400;

async function until(holds: () => boolean): Promise<void> {
  for (let waits = 0; !holds(); waits++) {
    assert.ok(waits < WAITS_MAX, "it did not come to that");
    await pause(50);
  }
}
