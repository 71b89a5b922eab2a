import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import type { WireEntry } from "../wire.ts";
import { agreed, facts, failed, request, robotsRequest, saysOf } from "./given.ts";
import { pace } from "./pace.ts";

const SLOW = "User-agent: *\nCrawl-delay: 3\n";
const PLAIN = "User-agent: *\nDisallow: /private\n";

interface Case {
  name: string;
  config?: Partial<CrawlConfig>;
  requests: WireEntry[];
  wrong: RegExp | undefined;
}

const sentOn = (at: number): WireEntry =>
  request(at, { path: "/robots.txt", status: 302, location: "http://h2.sim/robots.txt", endedAt: undefined as never });

const cases: Case[] = [
  { name: "a second after the answer is kept", requests: [request(0), request(1_050)], wrong: undefined },
  { name: "a second after the request is too early", requests: [request(0), request(1_049)], wrong: /999 ms after the answer/ },
  {
    name: "without an answer the end counts",
    requests: [failed(0), request(1_060)],
    wrong: undefined,
  },
  { name: "too soon after such an end", requests: [failed(0), request(1_059)], wrong: /999 ms/ },
  {
    name: "a request before the other has its answer",
    requests: [request(0, { answeredAt: undefined as never, endedAt: undefined as never }), request(30_000)],
    wrong: /no answer yet/,
  },
  { name: "robots.txt is a request too", requests: [robotsRequest(0, PLAIN), request(1_000)], wrong: /950 ms/ },
  { name: "two hosts have two clocks", requests: [request(0), request(10, { host: "h2.sim" })], wrong: undefined },
  { name: "http and https share one", requests: [request(0), request(10, { scheme: "https:" })], wrong: /answer/ },
  {
    name: "Crawl-delay kept",
    requests: [robotsRequest(0, SLOW), request(3_050), request(6_100)],
    wrong: undefined,
  },
  { name: "Crawl-delay not kept", requests: [robotsRequest(0, SLOW), request(1_100)], wrong: /1050 ms .* 3000 ms are owed/ },
  {
    name: "a Crawl-delay that is gone from the newest robots.txt",
    requests: [robotsRequest(0, SLOW), request(3_050), robotsRequest(6_100, PLAIN), request(7_200)],
    wrong: undefined,
  },
  {
    name: "a Crawl-delay outlives a failure",
    requests: [robotsRequest(0, SLOW), request(3_050), failed(6_100, { path: "/robots.txt" }), request(8_000)],
    wrong: /3000 ms are owed/,
  },
  {
    name: "the target's Crawl-delay counts for the host that is sent there",
    requests: [sentOn(0), robotsRequest(60, SLOW, { host: "h2.sim" }), request(2_000)],
    wrong: /h1\.sim.*3000 ms are owed/,
  },
  {
    name: "the target's Crawl-delay kept",
    requests: [sentOn(0), robotsRequest(60, SLOW, { host: "h2.sim" }), request(3_050), request(6_100)],
    wrong: undefined,
  },
  {
    name: "agreed to two at a time: starts apart, though the first has no answer",
    config: agreed(),
    requests: [request(0, { answeredAt: undefined as never, endedAt: undefined as never }), request(200)],
    wrong: undefined,
  },
  {
    name: "agreed to two at a time: starts too close",
    config: agreed(),
    requests: [request(0), request(199)],
    wrong: /199 ms after the request before, 200 ms/,
  },
  {
    name: "who did not agree is asked once a second, whatever the settings",
    config: { delayMs: 10 },
    requests: [request(0), request(500)],
    wrong: /1000 ms are owed/,
  },
];

for (const { name, config, requests, wrong } of cases) {
  test(`pace: ${name}`, () => {
    const words = saysOf(pace(facts(config)), requests);
    if (wrong === undefined) assert.deepEqual(words, []);
    else assert.match(words.join("\n"), wrong);
  });
}
