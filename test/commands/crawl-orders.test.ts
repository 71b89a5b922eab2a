// Does a running crawl obey what an operator orders of a host, and leave all others alone? Judged from the web's own log.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { runHosts } from "../../tools/lib/hosts-tool.ts";
import { askedPaths, links, onStage, reportOf, type Stage, site, startCommand } from "../lib/crawl-command.ts";

const OBEYED_MS = 10_000;
const PAGES = 120;

const paths = Array.from({ length: PAGES }, (_, number) =>
  number === 0 ? "/" : `/${number % 2 === 0 ? "even" : "odd"}/${number}`,
);
const pages = Object.fromEntries(
  paths.map((path, number) => [
    path,
    `<p>page ${number} of its own words ${number * 7919}</p>${links(...paths.slice(number + 1, number + 4))}`,
  ]),
);

async function until(isTrue: () => boolean, ms = 60_000): Promise<void> {
  for (let waited = 0; waited < ms && !isTrue(); waited += 20) await pause(20);
  assert.ok(isTrue(), "it never came true");
}

async function order(stage: Stage, ...args: string[]): Promise<void> {
  const { code, stderr } = await runHosts([...args, "--data", stage.data]);
  assert.equal(code, 0, stderr);
}

test("a host that is paused gets no request within 10 s and none after, others go on; resumed, it is crawled to its end", async () => {
  await onStage({ "a.test": site(pages), "b.test": site(pages) }, async (stage) => {
    const { web, flags } = stage;
    const flight = startCommand([
      "http://a.test/",
      "http://b.test/",
      ...flags,
      "--delay-ms",
      "150",
      "--json",
      "--idle-horizon",
      "30",
    ]);
    const asked = (host: string): number => askedPaths(web.log, host).length;
    await until(() => asked("a.test") >= 10);
    await order(stage, "pause", "a.test");
    const orderedAt = Date.now();
    let lastOfA = asked("a.test");
    for (let quietSince = Date.now(); Date.now() - quietSince < 2_500; await pause(50)) {
      if (asked("a.test") > lastOfA) quietSince = Date.now();
      lastOfA = asked("a.test");
      assert.ok(Date.now() - orderedAt < OBEYED_MS + 2_500, "it was still asked 10 s after the order");
    }
    assert.ok(lastOfA < PAGES, "it was paused in the middle");
    await until(() => asked("b.test") >= PAGES / 2);
    assert.equal(asked("a.test"), lastOfA);
    await order(stage, "resume", "a.test");
    reportOf(await flight.ended, 0);
    assert.equal(asked("a.test"), PAGES);
  });
});

test("a pattern that is excluded costs the other URLs of its host nothing", async () => {
  await onStage({ "a.test": site(pages) }, async (stage) => {
    const { web, flags } = stage;
    const first = startCommand(["http://a.test/", ...flags, "--delay-ms", "50", "--max-pages", "1", "--json"]);
    reportOf(await first.ended, exitCodes.limit);
    await order(stage, "exclude", "a.test", "--pattern", "http://a.test/odd/**");
    reportOf(await startCommand([...flags, "--delay-ms", "50", "--json"]).ended, 0);
    const after = askedPaths(web.log, "a.test");
    assert.deepEqual(
      after.filter((path) => path.startsWith("/odd/")),
      [],
    );
    assert.equal(after.filter((path) => path.startsWith("/even/")).length, PAGES / 2 - 1);
  });
});
