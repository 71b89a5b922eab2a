// Does `npm run crawl -- --engine prism|flink` crawl as a user would have it, and end when it is told to? On both, and the emulators.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setUpCrawl } from "../lib/cloud-crawl.ts";
import { askedPaths, links, runCommand, site } from "../lib/crawl-command.ts";
import { engineCrawlTests, engineStarts, startEngineCrawl } from "../lib/engine-crawl.ts";
import { smallestGapMs } from "../lib/judge.ts";
import { type RequestLogEntry, type SiteHandler, startWeb } from "../lib/web-server.ts";

const DELAY_MS = 100;
const WAIT_MS_MAX = 120_000;

const SMALL = { "/": links("/a", "/b"), "/a": links("/"), "/b": links("/a") };
/** One page keeps its host so long. */
const HELD_MS = 10_000;
/** Hosts that have enough to do meanwhile, and as long again. */
const STEADY = ["steady-1.test", "steady-2.test", "steady-3.test", "steady-4.test"];
const STEADY_PATHS = Array.from({ length: 60 }, (_, index) => `/${index + 1}.html`);

function sites(): Record<string, SiteHandler> {
  const [first, held] = [links("/held"), links("/")];
  const steady = site({ "/": links(...STEADY_PATHS), ...Object.fromEntries(STEADY_PATHS.map((path) => [path, "."])) });
  return {
    "small.test": site(SMALL),
    "held.test": async (ask) => {
      const answer = await site({ "/": first, "/held": held })(ask);
      return ask.path === "/held" ? { ...answer, delayMs: HELD_MS } : answer;
    },
    ...Object.fromEntries(STEADY.map((host) => [host, steady])),
  };
}

interface Paces {
  /** Requests of the steady hosts while the other was held. */
  inHold: RequestLogEntry[];
  /** The time that they needed for as many afterwards. */
  afterMs: number;
}

/** Undefined as long as there is not enough to compare. */
function paces(log: readonly RequestLogEntry[]): Paces | undefined {
  const held = log.find(({ host, path }) => host === "held.test" && path === "/held");
  if (held?.answeredAt === undefined) return undefined;
  const [from, to] = [held.startedAt, held.answeredAt];
  const steady = log.filter(({ host }) => STEADY.includes(host));
  const inHold = steady.filter(({ startedAt }) => startedAt >= from && startedAt < to);
  const last = steady.filter(({ startedAt }) => startedAt >= to)[Math.max(0, inHold.length - 1)];
  return last === undefined ? undefined : { inHold, afterMs: last.startedAt - to };
}

for (const engine of ["prism", "flink"] as const)
  await engineCrawlTests([engine], () => {
    test(`on ${engine} a job crawls politely, one host that is held holds up no other, and Ctrl-C cancels it`, async (context) => {
      const web = await startWeb({ sites: sites() });
      context.after(() => web.close());
      const [server, cloud] = await Promise.all([engineStarts[engine](), setUpCrawl()]);
      context.after(() => server.stop());
      const seeds = ["small.test", "held.test", ...STEADY].map((host) => `http://${host}/`);
      const way = ["--connect-to", `*.test:*=127.0.0.1:${web.port}`, "--allow-address", "127.0.0.0/8"];
      const flags = [...seeds, ...way, "--delay-ms", String(DELAY_MS), ...cloud.flags, "--engine", engine];

      const nobody = await runCommand([...flags, "--endpoint", "127.0.0.1:1"]);
      assert.equal(nobody.code, 1);
      assert.match(nobody.stderr, /127\.0\.0\.1:1/);

      const crawl = startEngineCrawl(context, [...flags, "--endpoint", server.endpoint]);
      await crawl.until("the small site is crawled", () => askedPaths(web.log, "small.test").length >= 3, WAIT_MS_MAX);
      await crawl.until("the others went on after the hold", () => paces(web.log) !== undefined, WAIT_MS_MAX);
      const { code, stderr } = await crawl.interrupt();
      assert.deepEqual(askedPaths(web.log, "small.test").sort(), Object.keys(SMALL), stderr);
      for (const host of ["small.test", ...STEADY]) {
        const gapMs = smallestGapMs(web.log, host).answerToStart;
        assert.ok(gapMs >= DELAY_MS, `${host}: ${gapMs} ms`);
      }
      const { inHold, afterMs } = paces(web.log)!;
      context.diagnostic(`${inHold.length} requests in the hold, as many in ${Math.round(afterMs)} ms after it`);
      // Held up, each host could only end what it had begun.
      assert.ok(inHold.length >= 2 * STEADY.length, `${inHold.length} requests in the hold`);
      assert.ok(HELD_MS <= 3 * afterMs, `${inHold.length} requests in the hold, as many in ${afterMs} ms after it`);
      assert.equal(code, 130, stderr);
      assert.match(stderr, /job \S+ runs at .*; Ctrl-C cancels it/);
      assert.match(stderr, /the job has ended: cancelled|the engine has not ended the job within 15 s/);
    });
  });

const cloudStores = ["--stores", "cloud", "--project", "my-project"];
const wrong: [flags: string[], told: RegExp][] = [
  [["--engine", "spark"], /--engine "spark" is none of embedded, prism, flink/],
  [["--engine", "prism", "--endpoint", "127.0.0.1:8073"], /--engine prism needs --stores cloud/],
  [["--engine", "flink", ...cloudStores], /--engine flink needs --endpoint HOST:PORT/],
  [["--endpoint", "127.0.0.1:8073"], /--endpoint is for --engine prism or flink/],
  [
    ["--max-pages", "5", "--engine", "flink", "--endpoint", "127.0.0.1:8073", ...cloudStores],
    /--max-pages is for --engine embedded: on flink each worker would fetch as many/,
  ],
];
for (const [flags, told] of wrong)
  test(`${flags.join(" ")} is refused with what is allowed`, async () => {
    const { code, stderr } = await runCommand(["http://a.test/", "--allow-address", "127.0.0.0/8", ...flags]);
    assert.equal(code, 2);
    assert.match(stderr, told);
  });
