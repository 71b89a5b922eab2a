// Does npm run demo, run once as a user would, come to what its sites expect, and can the tools look on meanwhile?
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { demoFaults } from "../../demo/web/judge.ts";
import { allSites } from "../../demo/web/sites.ts";
import { crawlRunning } from "../../io/stores/crawl-running.ts";
import { runTool } from "../../tools/lib/command.ts";
import { explainTool } from "../../tools/lib/explain-tool.ts";
import { inspectTool } from "../../tools/lib/inspect-tool.ts";
import { beforeRetryAfter, beforeRobots, concurrencyMax, smallestGapMs } from "../lib/judge.ts";
import type { RequestLogEntry } from "../lib/web-server.ts";

const ROOT = join(import.meta.dirname, "../..");
const DELAY_MS = 200; // what the demo tells the crawl, and its introduction the reader
const CRAWL_DELAY_MS = 2000; // what the slow site's robots.txt asks for
const LOOKS_MAX = 200; // at a state that comes within seconds
const LOOK_MS = 100;

interface Demo {
  folder: string;
  process: ChildProcess;
  ended: Promise<number | null>;
  said: { stdout: string; stderr: string };
}

async function startDemo(context: TestContext): Promise<Demo> {
  const parent = await mkdtemp(join(tmpdir(), "demo-"));
  const folder = join(parent, "data");
  const child = spawn(process.execPath, [join(ROOT, "demo/run.ts"), "--data", folder], { stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (bytes) => {
    said.stdout += bytes;
  });
  child.stderr.on("data", (bytes) => {
    said.stderr += bytes;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  context.after(async () => {
    child.kill("SIGTERM"); // which ends the crawl too; nothing where it has ended
    await ended;
    await rm(parent, { recursive: true, force: true });
  });
  return { folder, process: child, ended, said };
}

/** Looks again and again until the state has come. */
async function until<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const found = await look();
    if (found !== undefined) return found;
    await setTimeout(LOOK_MS);
  }
  assert.fail(`${what} did not come`);
}

async function explained(folder: string, host: string) {
  const told = await runTool(explainTool, [host, "--json", "--data", folder]);
  return told.code === 0 ? JSON.parse(told.stdout) : undefined;
}

test("the demo ends with code 0, every site to its last page, polite by its web's log", async (context) => {
  const { folder, ended, said } = await startDemo(context);
  const looking = await until(async () => {
    const view = await explained(folder, "slow.demo.test");
    return view?.clock.gapFrom === "Crawl-delay" && view.due[1].count > 0 ? view : undefined;
  }, "the turn of the slow host");
  assert.deepEqual([looking.running, looking.explanation.verdict], [true, "politeness-bound"]);

  assert.equal(await ended, 0, said.stdout + said.stderr);
  assert.match(said.stdout, /The crawl is done/);
  assert.match(said.stdout, /own log says: no host was asked sooner than allowed/);
  assert.match(said.stdout, /Every site was fetched to its last page/);
  for (const { host, expected } of allSites())
    for (const reason of expected.endless?.reasons ?? [])
      assert.match(said.stdout, new RegExp(`${host} .*made-up pages, then .*${reason} \\(`));

  const log = (await readFile(join(folder, "web-log.ndjson"), "utf8")).trim().split("\n");
  await checkLog(log.map((line) => JSON.parse(line) as RequestLogEntry));
  await checkTools(folder, said.stdout);
});

async function checkLog(log: readonly RequestLogEntry[]): Promise<void> {
  assert.deepEqual(demoFaults(allSites(), log, { sitemaps: true }), []);
  for (const { host, handler } of allSites()) {
    if (handler === undefined) continue;
    const owedMs = host.startsWith("slow.") ? CRAWL_DELAY_MS : DELAY_MS;
    const gapMs = smallestGapMs(log, host).answerToStart;
    assert.ok(gapMs >= owedMs, `${host}: ${gapMs} ms`);
    assert.equal(concurrencyMax(log, host), 1, host);
    assert.deepEqual(beforeRobots(log, host), [], host);
    assert.deepEqual(beforeRetryAfter(log, host), [], host);
  }
}

/** What the demo tells to look at can be looked at, and says what it promised. */
async function checkTools(folder: string, stdout: string): Promise<void> {
  const commands = [...stdout.matchAll(/npm run (inspect|explain) -- (\S+) --data (\S+)/g)];
  assert.equal(commands.length, 5);
  for (const [, name, argument, data] of commands) {
    const tool = name === "inspect" ? inspectTool : explainTool;
    const told = await runTool(tool, [argument ?? "", "--data", data ?? ""]);
    assert.equal(told.code, 0, `${name} ${argument}: ${told.stderr}`);
  }
  const diary = await runTool(inspectTool, ["http://rules.demo.test/private/diary.html", "--data", folder]);
  assert.match(diary.stdout, /last outcome +robots[\s\S]*disallow, line 3: Disallow: \/private\n/);
  const refused = await runTool(inspectTool, ["http://busy.demo.test/4.html", "--data", folder]);
  assert.match(refused.stdout, /: fetched 200[\s\S]*: throttled 429/);
  const down = await explained(folder, "down.demo.test");
  assert.deepEqual([down.explanation.verdict, down.running, down.failures[0].reason], ["failing", false, "connect"]);
  const idle = await explained(folder, "garden.demo.test");
  assert.equal(idle.explanation.verdict, "idle");
}

test("SIGINT ends the demo and its crawl cleanly, told once though npm and the terminal both send it", async (context) => {
  const { folder, process: demo, ended, said } = await startDemo(context);
  await until(async () => (await explained(folder, "garden.demo.test"))?.clock.lastSendAt, "the first request");
  demo.kill("SIGINT");
  demo.kill("SIGINT");
  assert.equal(await ended, 130, said.stdout + said.stderr);
  assert.match(said.stdout, /The crawl was interrupted/);
  assert.equal(crawlRunning(folder), false);
  assert.ok(existsSync(join(folder, "web-log.ndjson")));
});
