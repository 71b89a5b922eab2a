// Does `npm run crawl -- --engine prism|flink` crawl as a user would have it, and end when it is told to? On both, and the emulators.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { cloudTests } from "../emulators/cloud-tests.ts";
import { engineTests } from "../engines/engine-tests.ts";
import { startFlink } from "../engines/flink.ts";
import { startPrism } from "../engines/prism.ts";
import { setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";
import { askedPaths, links, runCommand, site, startCommand } from "../lib/crawl-command.ts";
import { smallestGapMs } from "../lib/judge.ts";
import { startWeb } from "../lib/web-server.ts";

const DELAY_MS = 100;
const PAGES = { "/": links("/a", "/b"), "/a": links("/"), "/b": links("/a") };
const WAITS_MAX = 600;

for (const [engine, start] of [
  ["prism", startPrism],
  ["flink", startFlink],
] as const)
  await engineTests([engine], async () => {
    await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
      let undo: () => void;
      before(() => {
        undo = withEnvironment(emulators().env);
      });
      after(() => undo());

      test(`on ${engine} the command submits the job, its workers crawl politely, and Ctrl-C cancels it`, async (context) => {
        const web = await startWeb({ sites: { "small.test": site(PAGES) } });
        context.after(() => web.close());
        const server = await start();
        context.after(() => server.stop());
        const cloud = await setUpCrawl();
        const way = ["--connect-to", `*.test:*=127.0.0.1:${web.port}`, "--allow-address", "127.0.0.0/8"];
        const flags = ["http://small.test/", ...way, "--delay-ms", String(DELAY_MS), ...cloud.flags, "--engine", engine];

        const nobody = await runCommand([...flags, "--endpoint", "127.0.0.1:1"]);
        assert.equal(nobody.code, 1);
        assert.match(nobody.stderr, /127\.0\.0\.1:1/);

        const running = startCommand([...flags, "--endpoint", server.endpoint]);
        for (let waits = 0; askedPaths(web.log).length < 3 && waits < WAITS_MAX; waits++) await pause(100);
        await pause(1_000); // nothing more comes
        running.kill("SIGINT");
        const { code, stderr } = await running.ended;
        assert.deepEqual(askedPaths(web.log).sort(), Object.keys(PAGES), stderr);
        assert.ok(smallestGapMs(web.log, "small.test").answerToStart >= DELAY_MS);
        assert.equal(code, 130, stderr);
        assert.match(stderr, /job \S+ runs at .*; Ctrl-C cancels it/);
        assert.match(stderr, /the job has ended: cancelled|the engine has not ended the job within 15 s/);
      });
    });
  });

const wrong: [flags: string[], told: RegExp][] = [
  [["--engine", "spark"], /--engine "spark" is none of embedded, prism, flink/],
  [["--engine", "prism", "--endpoint", "127.0.0.1:8073"], /--engine prism needs --stores cloud/],
  [["--engine", "flink", "--stores", "cloud", "--project", "my-project"], /--engine flink needs --endpoint HOST:PORT/],
  [["--endpoint", "127.0.0.1:8073"], /--endpoint is for --engine prism or flink/],
];
for (const [flags, told] of wrong)
  test(`${flags.join(" ")} is refused with what is allowed`, async () => {
    const { code, stderr } = await runCommand(["http://a.test/", "--allow-address", "127.0.0.0/8", ...flags]);
    assert.equal(code, 2);
    assert.match(stderr, told);
  });
