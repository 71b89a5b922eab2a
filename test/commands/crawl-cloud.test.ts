// Does a crawl whose stores are Google Cloud's come to the same as one on SQLite and files? On emulators, as a user would have it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { crawlArguments } from "../../demo/crawl.ts";
import { type DemoWeb, startDemoWeb } from "../../demo/web/start.ts";
import { cloudTests } from "../emulators/cloud-tests.ts";
import { cloudEvents, setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";
import { eventsIn, inFolder, reportOf, runCommand } from "../lib/crawl-command.ts";
import { assertAsExpected, type DemoCame, whatCameOf } from "../lib/demo-crawl.ts";

await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
  let undo: () => void;
  before(() => {
    undo = withEnvironment(emulators().env);
  });
  after(() => undo());

  test("the demo's web comes to the same pages, outcomes and refusals in the cloud as in a folder, as politely", async () => {
    const cloud = await setUpCrawl();
    const [inCloud, atHome] = await Promise.all([
      onDemoWeb(async (web) => {
        reportOf(await runCommand([...crawlArguments(web, cloud.flags), "--json"]), 0);
        const fetches = await cloudEvents(emulators(), cloud, "fetch");
        return whatCameOf(web, fetches, await cloudEvents(emulators(), cloud, "skip"));
      }),
      onDemoWeb(async (web) => {
        let came: DemoCame | undefined;
        await inFolder(async (folder) => {
          reportOf(await runCommand([...crawlArguments(web, ["--data", `${folder}/data`]), "--json"]), 0);
          came = whatCameOf(web, eventsIn(`${folder}/data`, "fetch"), eventsIn(`${folder}/data`, "skip"));
        });
        return came!;
      }),
    ]);
    assert.deepEqual(inCloud, atHome);
  });

  test("set-up and compact end well and say what they did, and what is wrong with their flags", async () => {
    const { flags } = await setUpCrawl();
    const place = flags.slice(2); // without --stores cloud
    const again = await runScript("set-up", [...place]);
    assert.deepEqual([again.code, again.stderr], [0, ""]);
    assert.match(again.stdout, /9 tables stood\n.*bucket .* present\n.*0 topics and subscriptions made.*\n/);
    const compacted = await runScript("compact", [...place, "--day", "2026-01-31"]);
    assert.deepEqual([compacted.code, compacted.stdout], [0, "2026-01-31: 0 segments, 0 bytes, in 0 objects\n"]);
    for (const [script, given, told] of [
      ["set-up", [], /--project is needed/],
      ["set-up", ["--project", "x"], /--project "x": 6 to 30/],
      ["compact", [...place, "--day", "yesterday"], /--day "yesterday" is no day/],
      ["compact", ["--days"], /Unknown option '--days'; npm run compact -- --help/],
    ] as const) {
      const { code, stderr } = await runScript(script, given);
      assert.equal(code, 2);
      assert.match(stderr, told);
    }
  });
});

async function runScript(name: "set-up" | "compact", args: readonly string[]) {
  const script = join(import.meta.dirname, "../../pipelines/commands", `${name}.ts`);
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code, stdout, stderr };
}

async function onDemoWeb<T>(run: (web: DemoWeb) => Promise<T>): Promise<T> {
  const web = await startDemoWeb();
  try {
    const came = await run(web);
    assertAsExpected(web);
    return came;
  } finally {
    await web.close();
  }
}
