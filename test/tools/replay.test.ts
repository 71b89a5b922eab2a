// Does npm run replay do on a crawled folder what it says: parse stored pages without the web, for the next crawl to go on from?
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { urlIdentity } from "../../core/url/keys.ts";
import { systemRandom } from "../../io/random.ts";
import { openSqliteStore } from "../../io/stores/sqlite-store.ts";
import type { ReplayReport } from "../../pipelines/wiring.ts";
import { crawlTables, durableQueueNames, type RawTables, tableNames } from "../../pipelines/worker.ts";
import { dueKey, rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { runReplay } from "../../tools/lib/replay-tool.ts";
import type { Tables } from "../../transforms/services.ts";
import { askedPaths, eventsIn, links, onStage, type Stage, site } from "../lib/crawl-command.ts";
import { dataFolder } from "./data-folder.ts";

const HOME = "http://a.test/";
const pages = { "/": `<p>home</p>${links("/x", "/y")}`, "/x": "<p>x</p>", "/y": "<p>y</p>" };

const replay = (...args: string[]) => runReplay(args, () => {});
const report = (stdout: string): ReplayReport => JSON.parse(stdout);

/** Opens the folder's records for a change by the test. */
async function inTables(folder: string, change: (tables: Tables) => Promise<void>): Promise<void> {
  const store = await openSqliteStore({ folder, tables: tableNames, queues: durableQueueNames, durability: "process" });
  const raw = Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables;
  await change(crawlTables(raw, systemRandom()));
  await store.close();
}

const keyOf = (url: string): string => rowKey("a.test", urlIdentity(url).urlId);

/** The record as it is when the page was fetched, stored and not parsed. */
function unparsedRecord(record: UrlState): UrlState {
  const { simHash: _s, linkSetHash: _l, indexed: _i, marks: _m, ...rest } = record;
  return { ...rest, docVersion: 0, lastReason: "parse-timeout", marks: { parseFailed: true } };
}

/** HOME as if its parse had failed: its links were never published, so nothing is known of where they lead. */
async function failHome(folder: string): Promise<void> {
  await inTables(folder, async ({ urls, due }) => {
    const [row] = await urls.get([keyOf(HOME)]);
    await urls.compareAndSet(keyOf(HOME), unparsedRecord(row!.value), row!.rev);
    for (const url of [`${HOME}x`, `${HOME}y`]) {
      const [linked] = await urls.get([keyOf(url)]);
      const { priority, nextFetchAt: dueAt } = linked!.value;
      await due.delete([{ key: dueKey({ paceKey: "a.test", urlId: urlIdentity(url).urlId, priority, dueAt }) }]);
      await urls.delete([{ key: keyOf(url) }]);
    }
  });
}

type Crawled = Pick<Stage, "web" | "data" | "report">;
const onCrawled: [name: string, run: (crawled: Crawled) => Promise<void>][] = [];

/** A test on a folder of its own that a crawl of the site has left; one crawl serves all. */
function crawledTest(name: string, run: (crawled: Crawled) => Promise<void>): void {
  onCrawled.push([name, run]);
}

crawledTest(
  "a page whose parse failed is parsed from its stored object: document, event, and links that the next crawl takes",
  async ({ web, data, report: crawl }) => {
    await failHome(data);
    const asked = web.log.length;
    const { code, stdout, stderr } = await replay("--pending", "--data", data, "--json");
    assert.deepEqual([code, stderr], [0, ""]);
    const { records, pages: parsedPages, parsed, upserts } = report(stdout);
    assert.deepEqual([records, parsedPages, parsed, upserts], [1, 1, 1, 1]);
    assert.equal(web.log.length, asked, "no request");
    const events = eventsIn(data, "index").filter(({ url }) => url === HOME);
    assert.deepEqual(
      events.map(({ docVersion, op }) => [docVersion, op]),
      [
        [1, "upsert"],
        [1, "upsert"],
      ],
    );
    assert.equal(documentsIn(data).filter(({ url }) => url === HOME).length, 2);
    assert.match((await replay("--pending", "--data", data)).stdout, /^0 pages of 1 record to parse: 0 parsed, /);

    await crawl(0);
    assert.deepEqual(askedPaths(web.log.slice(asked)).sort(), ["/x", "/y"]);
  },
);

function documentsIn(data: string): { url: string }[] {
  return globSync("documents/*/*.gz", { cwd: data }).flatMap((file) => {
    const lines = gunzipSync(readFileSync(join(data, file)))
      .toString()
      .trimEnd()
      .split("\n");
    return lines.map((line) => JSON.parse(line));
  });
}

crawledTest("a page that parses as before leaves the folder's output as it was", async ({ data }) => {
  const before = [eventsIn(data, "index").length, documentsIn(data).length];
  const { code, stdout } = await replay(`${HOME}x#part`, "--data", data);
  assert.deepEqual([code, stdout.split("\n").length], [0, 2]);
  assert.match(stdout, /^1 page of 1 record to parse: 0 parsed, .* 1 unchanged, failed 0, missing objects 0\n$/);
  assert.deepEqual([eventsIn(data, "index").length, documentsIn(data).length], before);
});

crawledTest("a stored page that is damaged or gone is named, code 5, and stays marked", async ({ data }) => {
  await failHome(data);
  const [segment] = globSync("pages/*/*.warc.gz", { cwd: data }).map((file) => join(data, file));
  const bytes = readFileSync(segment!);
  for (const damage of ["flipped", "cut"] as const) {
    if (damage === "cut") truncateSync(segment!, 10);
    else writeSync(openSync(segment!, "r+"), Buffer.alloc(bytes.length, 0x55));
    const said: string[] = [];
    const told = await runReplay([HOME, "--data", data], (line) => said.push(line));
    assert.equal(told.code, 5, damage);
    assert.match(told.stderr, /^replay: http:\/\/a\.test\/: its stored object is damaged or gone\n$/);
    assert.match(told.stdout, /missing objects 1 \(unreadable 1\)/);
    assert.match(said.join("\n"), /cannot be read back url=http:\/\/a\.test\/ segment=.* offset=\d/);
  }
  assert.equal(report((await replay("--pending", "--json", "--data", data)).stdout).missing.unreadable, 1);
});

const usage: [args: string[], line: RegExp][] = [
  [[], /one URL or --pending is expected/],
  [[HOME, "http://b.test/"], /one URL or --pending is expected/],
  [[HOME, "--pending"], /one URL or --pending is expected/],
  [["a.test"], /"a\.test" is not an absolute http/],
  [["--pending", "--fast"], /--fast.*--help lists/],
];
for (const [args, line] of usage)
  test(`replay ${args.join(" ")}: code 2 and one line`, async () => {
    const { code, stdout, stderr } = await replay(...args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, line);
    assert.match(stderr, /^replay: [^\n]*\n$/);
  });

test("--help tells the rule for a new document version, the flags and the codes", async () => {
  const { code, stdout } = await replay("--help");
  assert.equal(code, 0);
  assert.match(stdout, /new document version[\s\S]*--data DIR[\s\S]*--json[\s\S]*Exit codes: 0 done, 4 /);
});

test("a folder without a crawl, an unknown URL, and one that waits for its first fetch, each have their line and code", async (context) => {
  const folder = await dataFolder(context, { seeds: [HOME], urls: [{ url: HOME }] });
  const table: [args: string[], code: number, line: RegExp][] = [
    [["--pending", "--data", `${folder}/none`], 5, /none holds no crawl/],
    [[`${HOME}unseen`, "--data", folder], 4, /unseen: no crawl in \S+ knows it/],
    [[HOME, "--data", folder], 4, /a\.test\/: it was never fetched/],
  ];
  for (const [args, code, line] of table) {
    const told = await replay(...args);
    assert.equal(told.code, code, args.join(" "));
    assert.match(told.stderr, line);
    assert.match(told.stderr, /^replay: [^\n]*\n$/);
  }
});

test("a folder that another process holds is named, code 5, and left alone", async (context) => {
  const folder = await dataFolder(context, { seeds: [HOME], urls: [{ url: HOME }] });
  await inTables(folder, async () => {
    const { code, stderr } = await replay("--pending", "--data", folder);
    assert.equal(code, 5);
    assert.match(stderr, /^replay: [^\n]* is in use by another process[^\n]*\n$/);
  });
});

crawledTest("the command: SIGINT ends it between two pages with code 130, and the same command goes on", async ({ data }) => {
  const many = 300;
  await failHome(data);
  await inTables(data, async ({ urls }) => {
    const [row] = await urls.get([keyOf(HOME)]);
    const copies = Array.from({ length: many }, (_, number) => `${HOME}copy/${number}`);
    await urls.insertIfAbsent(copies.map((url) => ({ key: keyOf(url), value: { ...row!.value, canonicalUrl: url } })));
  });
  const before = documentsIn(data).length;
  const first = startReplay("--pending", "--json", "--data", data);
  for (let look = 0; look < 1_000 && documentFiles(data) < 2; look++) await pause(5);
  first.child.kill("SIGINT");
  const stopped = await first.ended;
  assert.equal(stopped.code, 130, stopped.stderr);
  assert.match(stopped.stderr, /stopping/);
  const { parsed, interrupted } = report(stopped.stdout);
  assert.equal(interrupted, true);
  assert.ok(parsed > 0 && parsed < many, `${parsed} pages`);
  assert.equal(documentsIn(data).length - before, parsed);

  const rest = await replay("--pending", "--json", "--data", data);
  assert.equal(rest.code, 0, rest.stderr);
  assert.equal(report(rest.stdout).parsed, many + 1 - parsed);
});

const documentFiles = (data: string): number => globSync("documents/*/*.gz", { cwd: data }).length;

function startReplay(...args: string[]) {
  const path = join(import.meta.dirname, "../../tools/replay.ts");
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  return { child, ended: endOf(child).finally(() => process.off("exit", end)) };
}

async function endOf(child: ChildProcess) {
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (part: string) => {
      said[name] += part;
    });
  const [code] = await once(child, "close");
  return { code, ...said };
}

test("on the folder of a crawl:", (context) =>
  onStage({ "a.test": site(pages) }, async (stage) => {
    await stage.report(0, HOME);
    const copies = onCrawled.map((_, index) => join(stage.folder, `copy-${index}`));
    for (const copy of copies) await cp(stage.data, copy, { recursive: true });
    for (const [index, [name, run]] of onCrawled.entries())
      await context.test(name, () =>
        run({
          web: stage.web,
          data: copies[index]!,
          report: (code, ...args) => stage.report(code, ...args, "--data", copies[index]!),
        }),
      );
  }));
