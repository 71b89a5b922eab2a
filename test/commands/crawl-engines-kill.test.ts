// What does a crawl lose when its worker is killed, or its job ends, on another engine? Nothing, and no host is asked too soon.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { WorkerHealth } from "../../pipelines/container/worker-health.ts";
import type { FetchEvent } from "../../schemas/events.ts";
import { freePort } from "../emulators/ports.ts";
import { setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";
import { askedPaths, links, site } from "../lib/crawl-command.ts";
import { engineCrawlTests, engineStarts, eventBook, startEngineCrawl, workerProgram } from "../lib/engine-crawl.ts";
import { beforeRobots, concurrencyMax, smallestGapMs } from "../lib/judge.ts";
import { type RequestLogEntry, startWeb, type Web } from "../lib/web-server.ts";

/** A request that nobody answers for is an entry in flight until this, and a grace, are over; then the host rests for 15 s and more. */
const REQUEST_MS = 8_000;
const CRAWL_MS_MAX = 180_000;

interface Stage {
  web: Web;
  hosts: string[];
  paths: string[];
  /** Seeds, the way to them, and their pace. */
  flags: string[];
}

interface StageOptions {
  hosts: string[];
  pages: number;
  delayMs: number;
  /** Hosts that take so long to answer. */
  slow?: { hosts: readonly string[]; answerMs: number };
}

/** Each host's first page leads to all others of it. */
async function onStage(context: TestContext, { hosts, pages, delayMs, slow }: StageOptions): Promise<Stage> {
  const paths = ["/", ...Array.from({ length: pages - 1 }, (_, index) => `/${index + 1}.html`)];
  const answers = site(Object.fromEntries(paths.map((path) => [path, path === "/" ? links(...paths.slice(1)) : links("/")])));
  const late: typeof answers = async (ask) => ({ ...(await answers(ask)), delayMs: slow!.answerMs });
  const sites = hosts.map((host) => [host, slow?.hosts.includes(host) ? late : answers] as const);
  const web = await startWeb({ sites: Object.fromEntries(sites) });
  context.after(() => web.close());
  const way = ["--connect-to", `*.test:*=127.0.0.1:${web.port}`, "--allow-address", "127.0.0.0/8"];
  const pace = ["--delay-ms", String(delayMs), "--timeout-ms", String(REQUEST_MS)];
  return { web, hosts, paths, flags: [...hosts.map((host) => `http://${host}/`), ...way, ...pace] };
}

const now = () => performance.timeOrigin + performance.now();
const isPage = ({ path }: RequestLogEntry) => path !== "/robots.txt";
const ofHost = ({ log }: Web, host: string) => log.filter((entry) => entry.host === host);
const named = (host: string, count: number) => Array.from({ length: count }, (_, index) => `${host}-${index + 1}.test`);
const pageUrl = ({ host, path }: RequestLogEntry) => `http://${host}${path}`;

function isWhole({ web, hosts, paths }: Stage): boolean {
  const got = new Set(web.log.filter(({ status }) => status === 200).map(pageUrl));
  return hosts.every((host) => paths.every((path) => got.has(`http://${host}${path}`)));
}

function assertPolite({ web, hosts }: Stage, delayMs: number): void {
  for (const host of hosts) {
    const gapMs = smallestGapMs(web.log, host).answerToStart;
    assert.ok(gapMs >= delayMs, `${host}: ${gapMs} ms`);
    assert.equal(concurrencyMax(web.log, host), 1, host);
    assert.deepEqual(beforeRobots(web.log, host), [], host);
  }
}

/** What was told as fetched is not asked for again. */
function assertKept({ log }: Web, told: readonly FetchEvent[], since: number): void {
  const known = new Set(told.filter(({ outcome }) => outcome === "fetched").map(({ url }) => url));
  const again = log.filter((entry) => isPage(entry) && entry.startedAt > since && known.has(pageUrl(entry)));
  assert.deepEqual(again.map(pageUrl), []);
}

await engineCrawlTests(["flink"], (emulators) => {
  test("on flink a worker that is killed comes back, nothing is lost and no host is asked too soon", async (context) => {
    const [delayMs, resting, slow] = [4_000, named("resting", 16), named("slow", 2)];
    const options = { hosts: [...resting, ...slow], pages: 3, delayMs, slow: { hosts: slow, answerMs: 2_500 } };
    const [stage, server, cloud] = await Promise.all([onStage(context, options), engineStarts.flink(), setUpCrawl()]);
    context.after(() => server.stop());
    const { web } = stage;
    const worker = workerProgram(context);
    const place = ["--engine", "flink", "--endpoint", server.endpoint, "--worker-command", worker.command];
    const crawl = startEngineCrawl(context, [...stage.flags, ...cloud.flags, ...place]);
    const book = eventBook(emulators(), cloud);

    const isOpen = (host: string) => ofHost(web, host).at(-1)?.endedAt === undefined;
    const isAsked = (host: string) => askedPaths(web.log, host).length > 0;
    const isRipe = () => stage.hosts.every(isAsked) && slow.some(isOpen);
    await crawl.until("a request is open, and each host has begun", isRipe, CRAWL_MS_MAX);
    const told = await book.read("fetch");
    const letGo = worker.hold();
    const killed = worker.pids();
    for (const pid of killed) process.kill(pid, "SIGKILL");
    const killedAt = now();
    await crawl.until("all timers of hosts that rest are overdue", () => now() > killedAt + delayMs, CRAWL_MS_MAX);
    letGo();
    await crawl.until("every page was fetched", () => isWhole(stage), CRAWL_MS_MAX);

    assertPolite(stage, delayMs);
    assertKept(web, told, killedAt);
    assert.ok(worker.pids().length > killed.length);
    const { code, stderr } = await crawl.interrupt();
    assert.equal(code, 130, stderr);
    assert.doesNotMatch(stderr, /the job has ended: failed/);
  });
});

async function health(port: number): Promise<{ status: number; told: WorkerHealth }> {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
  return { status: answer.status, told: (await answer.json()) as WorkerHealth };
}

await engineCrawlTests(["prism"], (emulators) => {
  test("on prism a job that failed, or was cancelled, is taken up by a new one on the same stores, and its worker tells its health", async (context) => {
    const delayMs = 300;
    const options = { hosts: named("host", 4), pages: 9, delayMs };
    const healthPort = await freePort();
    // The runner's workers have its environment.
    context.after(withEnvironment({ GLEANER_HEALTH_PORT: String(healthPort) }));
    const [stage, server, cloud] = await Promise.all([onStage(context, options), engineStarts.prism(), setUpCrawl()]);
    context.after(() => server.stop());
    const { web, flags } = stage;
    const worker = workerProgram(context);
    const place = ["--engine", "prism", "--endpoint", server.endpoint, "--worker-command", worker.command];
    const book = eventBook(emulators(), cloud);
    const start = () => startEngineCrawl(context, [...flags, ...cloud.flags, ...place]);
    const untilMore = (crawl: ReturnType<typeof start>, pages: number) => {
      const before = askedPaths(web.log).length;
      return crawl.until(
        `${pages} pages more were asked for`,
        () => askedPaths(web.log).length >= before + pages,
        CRAWL_MS_MAX,
      );
    };

    const first = start();
    await untilMore(first, 9);
    const { status, told } = await health(healthPort);
    assert.equal(status, 200);
    assert.deepEqual([told.state, Object.keys(told.messagesHeld).sort()], ["running", ["discover", "host", "reparse"]]);
    assert.ok(told.bundles.done > 0 && told.lastInstructionAgeMs! >= 0, JSON.stringify(told));
    const toldFirst = await book.read("fetch");
    // Prism tells a worker's end by a bundle that it does not answer: one that is killed between two bundles is waited for.
    const isAtWork = async () => (await health(healthPort)).told.bundles.running > 0;
    await first.until("a bundle is under way", isAtWork, CRAWL_MS_MAX);
    const killedAt = now();
    process.kill(worker.pids().at(-1)!, "SIGKILL");
    const failed = await first.ended(60_000);
    assert.equal(failed.code, 1, failed.stderr);
    assert.match(failed.stderr, /the job has ended: failed/);

    const second = start();
    await untilMore(second, 9);
    const cancelled = await second.interrupt();
    assert.equal(cancelled.code, 130, cancelled.stderr);
    const [toldSecond, cancelledAt] = [await book.read("fetch"), now()];

    const third = start();
    await third.until("every page was fetched", () => isWhole(stage), CRAWL_MS_MAX);
    assertPolite(stage, delayMs);
    assertKept(web, toldFirst, killedAt);
    assertKept(web, toldSecond, cancelledAt);
    assert.equal((await third.interrupt()).code, 130);
  });
});
