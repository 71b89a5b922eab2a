// Does the daily run come to the same on every engine? One crawl's records, and each table and record afterwards.
import assert from "node:assert/strict";
import { cpSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { openSqliteReader } from "../../io/stores/sqlite-reader.ts";
import { engineTests } from "../engines/engine-tests.ts";
import { startFlink } from "../engines/flink.ts";
import { startPrism } from "../engines/prism.ts";
import { inFolder, startNamed } from "../lib/crawl-command.ts";
import { dataFolder } from "../tools/data-folder.ts";

const DAY_MS = 86_400_000;
const YESTERDAY = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
const TODAY_AT = Date.parse(`${new Date().toISOString().slice(0, 10)}T00:00:00Z`);
const URLS = 300;
const HOSTS = 40;

/** Pages of which many are alike, and whose due times want to move. */
const urls = Array.from({ length: URLS }, (_, at) => ({
  url: `http://h${at % HOSTS}.test/${at}`,
  ...({ version: 3, docVersion: 1, indexed: true, priority: 2, lastOutcome: "fetched", lastStatus: 200 } as const),
  lastFetchAt: TODAY_AT - ((at % 9) + 1) * DAY_MS,
  nextFetchAt: TODAY_AT + (at % 28) * DAY_MS,
  quality: at % 100,
  simHash: Buffer.from(((at >> 2) * 0x9e3779b97f4a).toString(16).padStart(16, "0").slice(0, 16), "hex"),
  changeHistory: [{ afterMs: ((at % 7) + 1) * DAY_MS, changed: at % 3 === 0 }],
  due: at % 50 !== 0, // some entries are missing
}));

/** Rows by table, in no order; and all records but their revs. */
async function outcomeOf(folder: string) {
  const rows: Record<string, string[]> = {};
  for (const file of globSync("daily/dt=*/**/*.gz", { cwd: folder })) {
    const table = file.split("/").at(-2)!;
    rows[table] = [
      ...(rows[table] ?? []),
      ...gunzipSync(readFileSync(join(folder, file)))
        .toString()
        .trim()
        .split("\n"),
    ];
  }
  const manifests = globSync("daily/dt=*/**/manifest.json", { cwd: folder }).map((file) => {
    const { table, rows: count } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return `${table} ${count}`;
  });
  const reader = await openSqliteReader(folder);
  const table = async (name: string) =>
    (await reader.table(name).scan({ from: "", to: "~", limit: 100_000 })).map(
      ({ key, value }) => `${key} ${Buffer.from(value).toString("base64")}`,
    );
  const records = { urls: await table("urls"), due: await table("due"), hostDue: await table("host_due") };
  await reader.close();
  const sorted = Object.fromEntries(Object.entries(rows).map(([name, lines]) => [name, lines.sort()]));
  return { rows: sorted, manifests: manifests.sort(), ...records };
}

let folder: string;
let clear: () => Promise<void> | void;
let expected: Awaited<ReturnType<typeof outcomeOf>>;

/** The folder after a daily run over a copy of the crawl's. */
async function dailyRun(flags: readonly string[]) {
  let outcome: typeof expected | undefined;
  await inFolder(async (home) => {
    const copy = join(home, "data");
    cpSync(folder, copy, { recursive: true });
    const { code, stdout, stderr } = await startNamed("daily", ["--data", copy, "--date", YESTERDAY, ...flags]).ended;
    assert.equal(code, 0, stdout + stderr);
    outcome = await outcomeOf(copy);
  });
  return outcome!;
}

before(async () => {
  const context: Parameters<typeof dataFolder>[0] = {
    after(run) {
      clear = run as typeof clear;
    },
  };
  folder = await dataFolder(context, { seeds: ["http://h0.test/"], urls });
  expected = await dailyRun([]);
});
after(() => clear());

test("on the embedded engine there is something to compare", () => {
  for (const name of ["clusters", "host-budgets", "revisit-schedule", "repair-report"])
    assert.ok((expected.rows[name]?.length ?? 0) > 3, name);
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
  [["--engine", "spark"], /--engine "spark" is none of embedded, prism, flink/],
  [["--engine", "prism"], /--engine prism needs --endpoint HOST:PORT/],
  [["--endpoint", "127.0.0.1:1"], /--endpoint is for --engine prism or flink/],
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
