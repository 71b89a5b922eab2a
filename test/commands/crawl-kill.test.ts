// Is a crawl that is killed again and again still polite and complete? Judged from the web's own log, and from what lies in the folder.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openForReading } from "../../pipelines/wiring.ts";
import { pythonWithWarcio } from "../io/objects/warcio.ts";
import { eventsIn, html, links, onStage, type Stage, site, startCommand } from "../lib/crawl-command.ts";
import { archiveIn } from "../lib/crawl-command-warc.ts";
import { beforeRobots, concurrencyMax, smallestGapMs } from "../lib/judge.ts";
import type { RequestLogEntry, SiteHandler } from "../lib/web-server.ts";

const HOSTS = 30;
const PAGES = 15;
const KILLS = 20;
const DELAY_MS = 100;
const KILL_MS = [300, 2500] as const; // after the start of a run
const START_MS_MAX = 10_000; // for the first request of a run
const QUIET_MS_MAX = 2_000; // for the server to see that a process is gone
const LOOK_MS = 5;
const KILL_AFTER_ANSWER_MS = 30; // the host is released by then; the first page waits for the parser to start

const hosts = Array.from({ length: HOSTS }, (_, index) => `host-${index}.test`);

const ROBOTS = { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /private\n" };

/**
 * Each page leads to the next two, so that most are known only from pages that a killed process has fetched. The hosts differ in how
 * fast they answer robots.txt: else all would be at one and the same step of their requests when a kill comes.
 */
const PAGE_SITE: SiteHandler = ({ host, path }) => {
  if (path === "/robots.txt") return { ...ROBOTS, delayMs: hosts.indexOf(host) * 10 };
  const number = path === "/" ? 0 : Number(/^\/page\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  if (!(number < PAGES)) return { status: 404, headers: html, body: "none" };
  const next = [number + 1, number + 2].filter((each) => each < PAGES).map((each) => `/page/${each}`);
  const body = `<title>${number}</title><p>page ${number} of ${host}</p>${links(...next)}`;
  return { headers: html, body, delayMs: (number * 7) % 20 };
};

const pathOf = (number: number): string => (number === 0 ? "/" : `/page/${number}`);
const everyUrl = hosts.flatMap((host) => Array.from({ length: PAGES }, (_, number) => `http://${host}${pathOf(number)}`));
const urlOf = ({ host, path }: RequestLogEntry): string => `http://${host}${path}`;

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("twenty times killed and resumed: polite throughout, nothing lost, nothing that was completed asked again", async (t) => {
  const seed = Number(process.env.GLEANER_KILL_SEED ?? randomInt(2 ** 31));
  console.log(`GLEANER_KILL_SEED=${seed}`);
  const number = numbersOf(seed);
  await onStage(Object.fromEntries(hosts.map((host) => [host, PAGE_SITE])), async (stage) => {
    const { web, data, flags } = stage;
    const completedAt = new Map<string, number>(); // requests seen when the record was first found completed
    const limits = ["--delay-ms", String(DELAY_MS), "--timeout-ms", "1000", "--idle-horizon", "120"];
    const args = [...hosts.map((host) => `http://${host}/`), ...flags, ...limits];
    const killed = { all: 0, atWork: 0 };
    for (let kill = 0; kill < KILLS; kill++) {
      const before = web.log.length;
      // Each run brings some new hosts with it, so that there is work to be killed at until the last.
      const run = startCommand([...args.slice(0, Math.ceil(((kill + 1) * HOSTS) / KILLS)), ...flags, ...limits]);
      // Every second time is counted from the first request: on a busy machine the start alone may take longer than all that.
      if (kill % 2 === 1) await until(() => web.log.length > before, START_MS_MAX);
      await pause(KILL_MS[0] + number() * (KILL_MS[1] - KILL_MS[0]));
      run.kill("SIGKILL");
      if ((await run.ended).signal === "SIGKILL") killed.all++;
      assert.ok(
        await until(() => web.log.every((entry) => entry.endedAt !== undefined), QUIET_MS_MAX),
        "a request outlives its client",
      );
      await checkLeft(stage, completedAt);
      if (web.log.length > before && completedAt.size < everyUrl.length) killed.atWork++;
    }
    assert.ok(killed.atWork >= KILLS / 4, `only ${killed.atWork} kills met a crawl at work`);
    const last = await startCommand(args).ended;
    assert.equal(last.code, 0, last.stderr);
    await checkLeft(stage, completedAt);
    assert.deepEqual(archiveIn(data).cut, []);
    checkPace(web.log);
    const repeats = checkRequests(web.log, completedAt);
    await t.test("each completed page has its fetch event", () => checkEvents(data));
    await t.test("Python's warcio reads everything", (t) => checkWarcio(t, data));
    const gap = Math.min(...hosts.map((host) => smallestGapMs(web.log, host).answerToStart));
    const pages = new Set(completedAt.keys()).size;
    console.log(
      `${killed.all} kills, ${killed.atWork} of a crawl at work, ${web.log.length} requests, ${pages} pages, ${repeats} repeats, smallest gap ${gap.toFixed(1)} ms`,
    );
  });
});

test("three kills between an answer and its record lose nothing: the page is tried again later", () =>
  onStage({ "a.test": site({ "/": links("/below"), "/below": "found" }) }, async ({ web, flags, report }) => {
    const args = ["http://a.test/", ...flags, "--idle-horizon", "60"];
    for (let kill = 0; kill < 3; kill++) {
      const before = web.log.length;
      const run = startCommand(args);
      const answered = () => web.log.slice(before).some(({ path, endedAt }) => path === "/" && endedAt !== undefined);
      await until(answered, START_MS_MAX);
      await pause(KILL_AFTER_ANSWER_MS);
      run.kill("SIGKILL");
      await run.ended;
    }
    await report(0, "http://a.test/", "--idle-horizon", "120");
    assert.ok(web.log.some(({ path }) => path === "/below"));
  }));

/** Whether it came true in time. */
async function until(isTrue: () => boolean, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs && !isTrue(); waited += LOOK_MS) await pause(LOOK_MS);
  return isTrue();
}

/** What a kill leaves: records and archive agree about what was completed. */
async function checkLeft({ web, data }: Stage, completedAt: Map<string, number>): Promise<void> {
  const completed = await completedUrls(data);
  for (const url of completed) if (!completedAt.has(url)) completedAt.set(url, web.log.length);
  for (const url of completedAt.keys()) assert.ok(completed.has(url), `${url} was completed and is so no longer`);
  const archived = new Set(
    archiveIn(data)
      .records.filter(({ type }) => type === "response" || type === "revisit")
      .map(({ url }) => url),
  );
  assert.deepEqual(
    [...completed].filter((url) => !archived.has(url)),
    [],
    "completed, and not in the archive",
  );
}

async function completedUrls(data: string): Promise<Set<string>> {
  const reading = await openForReading(data).catch(() => undefined); // killed before there was a database
  if (reading === undefined) return new Set();
  try {
    const rows = await reading.tables.urls.scan({ from: "", to: "\u{10ffff}", limit: 2 * everyUrl.length });
    // One that was given up after three kills is due again soon: that is no completion of the page.
    const done = rows.filter(({ value }) => value.version > 0 && value.failureCount === 0);
    return new Set(done.map(({ value }) => value.canonicalUrl));
  } finally {
    await reading.close();
  }
}

function checkPace(log: readonly RequestLogEntry[]): void {
  for (const host of hosts) {
    const gap = smallestGapMs(log, host).answerToStart;
    assert.ok(gap >= DELAY_MS, `${host} was asked again after ${gap} ms`);
    assert.equal(concurrencyMax(log, host), 1, host);
    assert.deepEqual(beforeRobots(log, host), []);
  }
}

/** Every page was answered, none after its record was found completed. Gives how often a page was asked for again. */
function checkRequests(log: readonly RequestLogEntry[], completedAt: ReadonlyMap<string, number>): number {
  const answered = new Set(log.filter((entry) => entry.status === 200).map(urlOf));
  assert.deepEqual(
    everyUrl.filter((url) => !answered.has(url)),
    [],
    "never answered",
  );
  assert.deepEqual(
    everyUrl.filter((url) => !completedAt.has(url)),
    [],
    "never completed",
  );
  const late = log.filter((entry, index) => index >= (completedAt.get(urlOf(entry)) ?? Infinity));
  assert.deepEqual(late.map(urlOf), [], "asked for after it was completed");
  const pages = log.filter((entry) => entry.path !== "/robots.txt");
  for (const host of hosts) {
    const mine = pages.filter((entry) => entry.host === host);
    assert.ok(mine.length - new Set(mine.map(urlOf)).size <= KILLS, `${host}: more repeats than kills`);
  }
  return pages.length - new Set(pages.map(urlOf)).size;
}

/** Each page has a fetch event of the very lease that completed it, and an index event. */
function checkEvents(data: string): void {
  const told = new Set(eventsIn(data, "fetch").map((event) => event.url));
  assert.deepEqual(
    everyUrl.filter((url) => !told.has(url)),
    [],
    "completed, and no fetch event tells of it",
  );
  const indexed = new Set(eventsIn(data, "index").map((event) => event.url));
  assert.deepEqual(
    everyUrl.filter((url) => !indexed.has(url)),
    [],
    "completed, and no index event tells of it",
  );
}

const READER = `
import glob, sys
from warcio.archiveiterator import ArchiveIterator
for name in glob.glob(sys.argv[1] + "/pages/**/*.warc.gz", recursive=True):
    with open(name, "rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            record.content_stream().read()
            if record.rec_type in ("response", "revisit") and record.http_headers.get_statuscode() == "200":
                print(record.rec_headers["WARC-Target-URI"])
`;

function checkWarcio(t: { skip(reason: string): void }, data: string): void {
  const found = pythonWithWarcio();
  if ("reason" in found) return t.skip(found.reason);
  const read = new Set(execFileSync(found.python, ["-c", READER, data], { encoding: "utf8" }).trim().split("\n"));
  assert.deepEqual(
    everyUrl.filter((url) => !read.has(url)),
    [],
  );
}
