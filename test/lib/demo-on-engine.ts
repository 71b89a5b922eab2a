// Does the demo's web come to the same on another engine as on the embedded one? One test, for a file of each engine: they run side by side.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { crawlArguments } from "../../demo/crawl.ts";
import { type DemoWeb, startDemoWeb } from "../../demo/web/start.ts";
import { setUpCrawl } from "./cloud-crawl.ts";
import { eventsIn, inFolder, reportOf, runCommand } from "./crawl-command.ts";
import { assertAsExpected, type DemoCame, whatCameOf } from "./demo-crawl.ts";
import { engineCrawlTests, engineStarts, eventBook, startEngineCrawl } from "./engine-crawl.ts";

/** A minute and a half on idle cores. */
const CRAWL_MS_MAX = 300_000;
/** Whoever would ask for more does so within this: a page takes a second and a half. */
const QUIET_MS = 5_000;

export async function demoOnEngine(engine: keyof typeof engineStarts): Promise<void> {
  await engineCrawlTests([engine], (emulators) => {
    test(`the demo's web comes to the same pages, outcomes and refusals on ${engine} as embedded, as politely`, async (context) => {
      const [server, cloud, web] = await Promise.all([engineStarts[engine](), setUpCrawl(), demoWeb(context)]);
      context.after(() => server.stop());
      const place = ["--engine", engine, "--endpoint", server.endpoint];
      const crawl = startEngineCrawl(context, [...crawlArguments(web, cloud.flags), ...place]);
      const expected = await embedded(context);
      const book = eventBook(emulators(), cloud);
      const came = async () => whatCameOf(web, await book.read("fetch"), await book.read("skip"));
      const settled = async () => isDeepStrictEqual(await came(), expected) && isQuiet(web);
      // What is missing, or too much, is told by the comparison.
      await crawl.until("the web is crawled", settled, CRAWL_MS_MAX).catch((error) => context.diagnostic(String(error)));
      const { code, stderr } = await crawl.interrupt();
      assert.deepEqual(await came(), expected);
      assertAsExpected(web);
      assert.equal(code, 130, stderr);
    });
  });
}

/** What a crawl in a folder comes to. */
async function embedded(context: TestContext): Promise<DemoCame> {
  const web = await demoWeb(context);
  let came: DemoCame | undefined;
  await inFolder(async (folder) => {
    const data = `${folder}/data`;
    reportOf(await runCommand([...crawlArguments(web, ["--data", data]), "--json"]), 0);
    came = whatCameOf(web, eventsIn(data, "fetch"), eventsIn(data, "skip"));
  });
  assertAsExpected(web);
  return came!;
}

async function demoWeb(context: TestContext): Promise<DemoWeb> {
  const web = await startDemoWeb();
  context.after(() => web.close());
  return web;
}

function isQuiet({ log }: DemoWeb): boolean {
  const now = performance.timeOrigin + performance.now();
  return log.every(({ startedAt }) => startedAt < now - QUIET_MS);
}
