// Does the daily run come to the same on every engine? One crawl's records, and each table and record afterwards.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { engineTests } from "../engines/engine-tests.ts";
import { startFlink } from "../engines/flink.ts";
import { startPrism } from "../engines/prism.ts";
import { inFolder, startNamed } from "../lib/crawl-command.ts";
import { crawlOfYesterday, DAY_MS, type DailyOutcome, outcomeInFolder, URLS, YESTERDAY } from "../lib/daily-crawl.ts";

let folder: string;
let clear: () => Promise<void>;
let expected: DailyOutcome;

/** The folder after a daily run over a copy of the crawl's. */
async function dailyRun(flags: readonly string[]) {
  let outcome: typeof expected | undefined;
  await inFolder(async (home) => {
    const copy = join(home, "data");
    cpSync(folder, copy, { recursive: true });
    const { code, stdout, stderr } = await startNamed("daily", ["--data", copy, "--date", YESTERDAY, ...flags]).ended;
    assert.equal(code, 0, stdout + stderr);
    outcome = await outcomeInFolder(copy);
  });
  return outcome!;
}

before(async () => {
  ({ folder, clear } = await crawlOfYesterday());
  expected = await dailyRun([]);
});
after(() => clear());

test("on the embedded engine there is something to compare", () => {
  for (const name of ["clusters", "host-budgets", "revisit-schedule", "repair-report", "host-statistics"])
    assert.ok((expected.rows[name]?.length ?? 0) > 3, name);
  assert.equal(expected.rows[`dt=${YESTERDAY}`]?.length, 20, "documents, each version once");
  assert.equal(expected.due.length, URLS);
});

for (const [engine, start] of [
  ["prism", startPrism],
  ["flink", startFlink],
] as const)
  await engineTests([engine], () => {
    test(`on ${engine} the daily run makes the same tables and the same records`, async (context) => {
      const server = await start();
      context.after(() => server.stop());
      assert.deepEqual(await dailyRun(["--engine", engine, "--endpoint", server.endpoint]), expected);
    });
  });

const wrong: [flags: string[], told: RegExp][] = [
  [["--engine", "spark"], /--engine "spark" is none of embedded, prism, flink, dataflow/],
  [["--engine", "prism"], /--engine prism needs --endpoint HOST:PORT/],
  [["--endpoint", "127.0.0.1:1"], /--endpoint is for --engine prism or flink or dataflow/],
  [["--engine", "dataflow", "--endpoint", "127.0.0.1:1"], /--engine dataflow needs --stores cloud/],
  [["--engine", "prism", "--endpoint", "127.0.0.1:1", "--worker-command", "w"], /--engine prism needs --stores cloud/],
  [["--stores", "cloud"], /--data is for --stores local/],
  [["--stores", "far"], /--stores "far" is neither local nor cloud/],
  [["--project", "my-project"], /--project and what goes with it are for --stores cloud/],
  [["--template", "templates"], /--template is for --engine dataflow/],
  [["--date", "2026-02-30"], /--date "2026-02-30" is no day/],
  [["--date", new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)], /is not over yet/],
  [["--revisits-per-day", "many"], /--revisits-per-day "many" is not a whole number/],
  [["--fast"], /Unknown option '--fast'; npm run daily -- --help lists what there is/],
];
for (const [flags, told] of wrong)
  test(`${flags.join(" ")} is refused with what is allowed`, async () => {
    const { code, stderr } = await startNamed("daily", ["--data", folder, ...flags]).ended;
    assert.equal(code, 2);
    assert.match(stderr, told);
  });

test("a folder without a crawl, and a job service that is not there, are told by name", async () => {
  const none = await startNamed("daily", ["--data", join(folder, "none")]).ended;
  assert.equal(none.code, 5);
  assert.match(none.stderr, /none holds no crawl/);
  const nobody = await startNamed("daily", ["--data", folder, "--engine", "prism", "--endpoint", "127.0.0.1:1"]).ended;
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /127\.0\.0\.1:1/);
});
