// Does the container's entry crawl? As a process of Prism, on the emulators of all stores, a site of four pages.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { withEnvironment } from "../../../beam/portable/environment.ts";
import { submit } from "../../../beam/portable/submit.ts";
import { workerOptions } from "../../../pipelines/container/worker-settings.ts";
import { crawlPipeline } from "../../../pipelines/crawl.ts";
import { parseOptions } from "../../../pipelines/options.ts";
import { openCrawl } from "../../../pipelines/wiring.ts";
import { crawlWorker } from "../../../pipelines/worker.ts";
import { publishDiscoveries } from "../../../transforms/fetch/publish.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import type { Emulators } from "../../emulators/start.ts";
import { engineTests } from "../../engines/engine-tests.ts";
import { startPrism } from "../../engines/prism.ts";
import { cloudEvents, setUpCrawl, withEnvironment as withVariables } from "../../lib/cloud-crawl.ts";
import { smallestGapMs } from "../../lib/judge.ts";
import { startWeb, type Web } from "../../lib/web-server.ts";

const SITE = "small.test";
const PAGES = ["/", "/a.html", "/b.html", "/c.html"];
const DELAY_MS = 100;
const CRAWL_MS_MAX = 90_000;

/** Each page links to the next; robots.txt allows all. */
function site(path: string): string | undefined {
  if (path === "/robots.txt") return "User-agent: *\nAllow: /\n";
  const at = PAGES.indexOf(path);
  return at < 0 ? undefined : `<title>${path}</title><a href="${PAGES[(at + 1) % PAGES.length]}">next</a>`;
}

await engineTests(["prism"], async () => {
  await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
    let undo: () => void;
    before(() => {
      undo = withVariables(emulators().env);
    });
    after(() => undo());

    test("each page is fetched once, after robots.txt, with its pauses, and told in the events", async (context) => {
      const web = await startWeb({
        sites: {
          [SITE]: ({ path }) => {
            const body = site(path);
            return body === undefined ? { status: 404 } : { body, headers: { "content-type": "text/html" } };
          },
        },
      });
      context.after(() => web.close());
      const cloud = await setUpCrawl();
      await launch(context, emulators(), web, cloud.flags);

      const paths = ["/robots.txt", ...PAGES];
      const until = Date.now() + CRAWL_MS_MAX;
      let told: string[] = [];
      while (told.length < paths.length && Date.now() < until) {
        await pause(500);
        const events = await cloudEvents(emulators(), cloud, "fetch");
        told = [...told, ...events.map(({ url }) => new URL(url).pathname)];
      }
      assert.deepEqual(
        web.log.map(({ path }) => path),
        paths,
      );
      assert.deepEqual([...new Set(told)].sort(), [...paths].sort());
      assert.ok(smallestGapMs(web.log, SITE).answerToStart >= DELAY_MS);
    });
  });
});

/** As the launcher does: configuration and seeds are written, then the job is given to Prism. */
async function launch(context: TestContext, { env }: Emulators, web: Web, stores: readonly string[]): Promise<void> {
  const options = parseOptions([
    ...[`http://${SITE}/`, ...stores, "--connect-to", `${SITE}=127.0.0.1:${web.port}`, "--allow-address", "127.0.0.0/8"],
    ...["--delay-ms", String(DELAY_MS), "--contact", "test@small.test"],
  ]);
  assert.ok(options !== "help" && options.cloud !== undefined);
  const opened = await openCrawl(options, () => undefined);
  const { config } = opened;
  const services = crawlWorker({ ports: opened, config, fetchers: 1, onBroken: () => undefined });
  await publishDiscoveries(services, { source: "seed", depth: 0, hops: 0, kind: "page", urls: [...options.seeds] });
  // Its queues would take the messages from the workers.
  await opened.close();

  const folder = mkdtempSync(join(tmpdir(), "gleaner-entry-"));
  const command = join(folder, "worker");
  const main = join(import.meta.dirname, "../../../pipelines/container/main.ts");
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(command, 0o755);
  const server = await startPrism();
  context.after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const job = await submit({
    ...{ endpoint: server.endpoint, jobName: "crawl", clock: opened.clock, log: () => undefined },
    proto: withEnvironment(crawlPipeline(config), { kind: "process", command, env: { ...env } }),
    options: workerOptions({ job: "crawl", ...options, cloud: options.cloud }),
  });
  context.after(() => job.leave());
}
