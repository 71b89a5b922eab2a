// Does the daily run over a crawl in the cloud come to the same as over one in a folder? On emulators, in this process, and by workers that Prism starts.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setUpCrawl } from "../lib/cloud-crawl.ts";
import { startNamed } from "../lib/crawl-command.ts";
import {
  copyToCloud,
  crawlOfYesterday,
  type DailyOutcome,
  outcomeInCloud,
  outcomeInFolder,
  YESTERDAY,
} from "../lib/daily-crawl.ts";
import { engineCrawlTests, engineStarts, workerProgram } from "../lib/engine-crawl.ts";

await engineCrawlTests(["prism"], () => {
  let folder: string;
  let expected: DailyOutcome;
  let clear: () => Promise<void>;
  const home = mkdtempSync(join(tmpdir(), "daily-cloud-"));
  before(async () => {
    ({ folder, clear } = await crawlOfYesterday());
    const copy = join(home, "data");
    cpSync(folder, copy, { recursive: true });
    await daily("--data", copy);
    expected = await outcomeInFolder(copy);
  });
  after(async () => {
    rmSync(home, { recursive: true, force: true });
    await clear();
  });

  async function daily(...flags: string[]) {
    const { code, stdout, stderr } = await startNamed("daily", ["--date", YESTERDAY, ...flags]).ended;
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  }

  async function crawlInCloud() {
    const cloud = await setUpCrawl();
    await copyToCloud(folder, cloud);
    return cloud;
  }

  test("in this process it makes the same tables, records and partitions, and what is done is not done again", async () => {
    const cloud = await crawlInCloud();
    const first = await daily(...cloud.flags);
    assert.match(first, new RegExp(`${YESTERDAY} of the crawl ${cloud.crawl} of project`));
    assert.deepEqual(await outcomeInCloud(cloud), expected);
    const again = await daily(...cloud.flags, "--json");
    const { phases } = JSON.parse(again) as { phases: { state: string }[] };
    assert.deepEqual([...new Set(phases.map(({ state }) => state))], ["before"]);
    assert.deepEqual(await outcomeInCloud(cloud), expected);
  });

  test("a dry run tells what would be written, and writes nothing", async () => {
    const cloud = await crawlInCloud();
    const before = await outcomeInCloud(cloud);
    assert.match(await daily(...cloud.flags, "--dry-run"), /host-statistics: \d+ rows would be written/);
    assert.deepEqual(await outcomeInCloud(cloud), before);
  });

  test("workers that Prism starts, which find the stores by the job's options, come to the same", async (context) => {
    const [server, cloud] = await Promise.all([engineStarts.prism(), crawlInCloud()]);
    context.after(() => server.stop());
    const { command, pids } = workerProgram(context);
    await daily(...cloud.flags, "--engine", "prism", "--endpoint", server.endpoint, "--worker-command", command);
    assert.ok(pids().length >= 7, `${pids().length} workers were started`);
    assert.deepEqual(await outcomeInCloud(cloud), expected);
  });

  test("a crawl that was never begun there is told by name", async () => {
    const cloud = await setUpCrawl();
    const { code, stderr } = await startNamed("daily", ["--date", YESTERDAY, ...cloud.flags]).ended;
    assert.equal(code, 5);
    assert.match(stderr, new RegExp(`the crawl ${cloud.crawl} of project test-project has no configuration: start it first`));
  });
});
