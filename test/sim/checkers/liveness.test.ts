import assert from "node:assert/strict";
import { test } from "node:test";
import { newHost } from "../../../core/politeness/host-clock.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import type { HostState } from "../../../schemas/host-state.ts";
import type { RobotsState } from "../../../schemas/robots-state.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import type { FinalState } from "./checker.ts";
import { facts, fetched, HOUR, request, saysAtEnd, standing, T, url } from "./given.ts";
import { liveness } from "./liveness.ts";

const A = "http://h1.sim/a";
const MINUTE = 60_000;
const STOP = T + 10 * HOUR;

/** A checker that has seen enough requests. */
function busy(requests = 10, config: Partial<CrawlConfig> = {}) {
  const checker = liveness(facts(config, { requestsMin: 10 }));
  for (let index = 0; index < requests; index++) checker.arrived?.(request(index));
  return checker;
}

interface Stores {
  urls: UrlState[];
  host?: Partial<HostState>;
  robots?: Partial<RobotsState>;
}

async function final({ urls, host, robots }: Stores, change: Partial<FinalState> = {}): Promise<FinalState> {
  const state = await standing([fetched("http://h2.sim/done"), ...urls], { now: STOP + MINUTE, stoppedAt: STOP, ...change });
  if (host !== undefined)
    await state.tables.hosts.insertIfAbsent([{ key: rowKey("h1.sim"), value: { ...newHost(1), ...host } }]);
  const rules: RobotsState = { status: "rules", fetchedAt: T, expiresAt: T + 24 * HOUR, ...robots };
  await state.tables.robots.insertIfAbsent([{ key: rowKey("h1.sim", "http://h1.sim"), value: rules }]);
  return state;
}

test("liveness: a run in which nothing happens fails", async () => {
  const words = await saysAtEnd(busy(9), await standing([]));
  assert.match(words.join("\n"), /9 requests, 10 are the least\n0 URLs completed/);
});

const waiting = (dueAt: number): UrlState => url(A, { nextFetchAt: dueAt, discoveredAt: dueAt });

const cases: [name: string, stores: Stores, change: Partial<FinalState>, wrong: boolean][] = [
  ["due and free for 15 minutes and more", { urls: [waiting(STOP - 15 * MINUTE - 1)] }, {}, true],
  ["due for 15 minutes", { urls: [waiting(STOP - 15 * MINUTE)] }, {}, false],
  ["a revisit that is due since long", { urls: [fetched(A, { nextFetchAt: T })] }, {}, false],
  ["a retry that is due since long", { urls: [fetched(A, { nextFetchAt: T, priority: 1 })] }, {}, true],
  ["a host that is busy", { urls: [waiting(T)], host: { lastAnsweredAt: STOP - MINUTE } }, {}, false],
  ["a host that was last asked an hour ago", { urls: [waiting(T)], host: { lastAnsweredAt: STOP - HOUR } }, {}, true],
  ["a host that rests", { urls: [waiting(T)], host: { backoffUntil: STOP - MINUTE } }, {}, false],
  ["a host whose pages are spent", { urls: [waiting(T)], host: { pages: 100_000 } }, {}, false],
  ["robots.txt that cannot be had", { urls: [waiting(T)], robots: { status: "unreachable", expiresAt: STOP + 1 } }, {}, false],
  [
    "robots.txt to be asked for again since long",
    { urls: [waiting(T)], robots: { status: "unreachable", expiresAt: T } },
    {},
    true,
  ],
  ["rules that expired since long", { urls: [waiting(T)], robots: { expiresAt: T + HOUR } }, {}, true],
  ["faults that ended just now", { urls: [waiting(T)] }, { faultsEndedAt: STOP - MINUTE }, false],
];
for (const [name, stores, change, wrong] of cases) {
  test(`liveness: ${name}`, async () => {
    const words = await saysAtEnd(busy(), await final(stores, change));
    if (wrong) assert.match(words.join(), /due and its host free/);
    else assert.deepEqual(words, []);
  });
}

test("liveness: a URL that younger ones pass over for two hours, though its host is busy", async () => {
  const host = { lastAnsweredAt: STOP - MINUTE };
  const old = url(A, { discoveredAt: T, nextFetchAt: T });
  const younger = (lastFetchAt: number): UrlState => fetched("http://h1.sim/b", { discoveredAt: T + MINUTE, lastFetchAt });
  const passed = await saysAtEnd(busy(), await final({ urls: [old, younger(STOP - 2 * HOUR)], host }));
  assert.match(passed.join(), /passed over/);
  assert.deepEqual(await saysAtEnd(busy(), await final({ urls: [old, younger(STOP - HOUR)], host })), []);
  const budgeted = { policies: [{ host: "h1.sim", limits: { bytesPerDay: 9_000 } }] };
  assert.deepEqual(await saysAtEnd(busy(10, budgeted), await final({ urls: [old, younger(STOP - 2 * HOUR)], host })), []);
});
