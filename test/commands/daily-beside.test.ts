// Does the daily run leave exactly one result, when it is killed on its way and while a crawl goes on beside it?
import assert from "node:assert/strict";
import { cpSync, globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openSqliteReader } from "../../io/stores/sqlite-reader.ts";
import { decode } from "../../schemas/codec.ts";
import { dueKey, paceKeyOf, rowKey } from "../../schemas/row-key.ts";
import { urlState } from "../../schemas/url-state.ts";
import { askedPaths, inFolder, links, onStage, reportOf, site, startCommand, startNamed } from "../lib/crawl-command.ts";
import { repeated, smallestGapMs } from "../lib/judge.ts";
import { dataFolder } from "../tools/data-folder.ts";

const DAY_MS = 86_400_000;
const YESTERDAY = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
const TODAY_AT = Date.parse(`${new Date().toISOString().slice(0, 10)}T00:00:00Z`);
const ALL = { from: "", to: "~", limit: 100_000 };

/** What the daily run made, each file as its bytes; and all records but their revs. */
async function outcomeOf(folder: string) {
  const files = globSync("daily/dt=*/**/*", { cwd: folder }).filter((name) => /\.(gz|json)$/.test(name));
  const reader = await openSqliteReader(folder);
  try {
    const table = async (name: string) =>
      (await reader.table(name).scan(ALL)).map(({ key, value }) => [key, Buffer.from(value).toString("base64")]);
    return {
      files: Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(folder, name)).toString("base64")])),
      urls: await table("urls"),
      due: await table("due"),
      hostDue: await table("host_due"),
    };
  } finally {
    await reader.close();
  }
}

/** Each record has the due entry that it calls for, and there is no other. */
async function assertIndexed(folder: string): Promise<void> {
  const reader = await openSqliteReader(folder);
  const wanted = (await reader.table("urls").scan(ALL)).map(({ key, value }) => {
    const { priority, nextFetchAt: dueAt, marks } = decode(urlState, value, key);
    assert.equal(marks, undefined, key);
    const paceKey = paceKeyOf(key);
    return dueKey({ paceKey, urlId: key.slice(rowKey(paceKey).length), priority, dueAt });
  });
  const standing = (await reader.table("due").scan(ALL)).map(({ key }) => key);
  await reader.close();
  assert.deepEqual(standing, wanted.sort());
}

test("killed again and again, the last run ends with what one run ends with", async (context) => {
  const urls = Array.from({ length: 1_200 }, (_, at) => ({
    url: `http://h${at % 90}.test/${at}`,
    ...({ version: 3, docVersion: 1, indexed: true, priority: 2, lastOutcome: "fetched", lastStatus: 200 } as const),
    lastFetchAt: TODAY_AT - ((at % 9) + 1) * DAY_MS,
    nextFetchAt: TODAY_AT + (at % 28) * DAY_MS,
    quality: at % 100,
    simHash: Buffer.from(((at >> 2) * 0x9e3779b97f4a).toString(16).padStart(16, "0").slice(0, 16), "hex"),
    changeHistory: [{ afterMs: ((at % 7) + 1) * DAY_MS, changed: at % 3 === 0 }],
  }));
  const folder = await dataFolder(context, { seeds: ["http://h0.test/"], urls });
  await inFolder(async (home) => {
    const copy = join(home, "undisturbed");
    cpSync(folder, copy, { recursive: true });
    const once = await startNamed("daily", ["--data", copy, "--date", YESTERDAY]).ended;
    assert.equal(once.code, 0, once.stderr);
    let killed = 0;
    for (let tries = 0; tries < 4; tries++) {
      const run = startNamed("daily", ["--data", folder, "--date", YESTERDAY]);
      await Promise.race([run.ended, pause(600 + tries * 500)]);
      run.kill("SIGKILL");
      if ((await run.ended).signal === "SIGKILL") killed++;
    }
    const last = await startNamed("daily", ["--data", folder, "--date", YESTERDAY]).ended;
    assert.equal(last.code, 0, last.stderr);
    assert.ok(killed > 0, "no run was killed");
    assert.deepEqual(await outcomeOf(folder), await outcomeOf(copy));
    await assertIndexed(folder);
    rmSync(join(folder, "daily"), { recursive: true });
  });
});

test("a crawl that goes on beside daily runs fetches each page once, keeps its pace, and no URL loses its turn", async () => {
  const paths = Array.from({ length: 40 }, (_, at) => `/${at}`);
  // Pages of three texts: what they say makes them copies of each other, whose records the daily run writes while the crawl does.
  const page = (at: number) => `<title>${at % 3}</title><p>${"some words of a text ".repeat(20)}${at % 3}</p>`;
  const pages = Object.fromEntries(paths.map((path, at) => [path, page(at)]));
  const sites = site({ "/": links(...paths), ...pages });
  await onStage({ "a.test": sites, "b.test": sites, "c.test": sites }, async ({ web, flags, data }) => {
    const seeds = ["a", "b", "c"].map((name) => `http://${name}.test/`);
    const crawl = startCommand([...seeds, ...flags, "--delay-ms", "150", "--json"]);
    for (let looks = 0; looks < 500 && askedPaths(web.log).length < 10; looks++) await pause(20);
    let runs = 0;
    let over = false;
    void crawl.ended.then(() => {
      over = true;
    });
    for (; !over && runs < 20; runs++) {
      const daily = await startNamed("daily", ["--data", data, "--date", YESTERDAY, "--again"]).ended;
      assert.equal(daily.code, 0, daily.stderr);
    }
    const report = reportOf(await crawl.ended, 0);
    assert.ok(runs >= 2, "the daily run was not beside the crawl");
    assert.equal(report.pages, 3 * 41);
    assert.deepEqual(repeated(web.log), []);
    for (const name of ["a", "b", "c"]) assert.ok(smallestGapMs(web.log, `${name}.test`).answerToStart >= 150);
    await assertIndexed(data);
  });
});
