import assert from "node:assert/strict";
import { test } from "node:test";
import type { WireEntry } from "../wire.ts";
import { agreed, facts, failed, HOUR, request, robotsRequest, saysOf } from "./given.ts";
import { robots } from "./robots.ts";

const PLAIN = "User-agent: *\nDisallow: /private\n";
const CLOSED = "User-agent: *\nDisallow: /p\nAllow: /p1/open\n";
const OURS = "User-agent: *\nDisallow: /\n\nUser-agent: gleaner\nDisallow: /q\n";

const missing = (at: number, status = 404): WireEntry => request(at, { path: "/robots.txt", status });
const sentOn = (at: number): WireEntry =>
  request(at, { path: "/robots.txt", status: 301, location: "http://h2.sim/robots.txt" });
const target = (at: number, text: string): WireEntry => robotsRequest(at, text, { host: "h2.sim" });

const cases: { name: string; requests: WireEntry[]; wrong: RegExp | undefined }[] = [
  { name: "rules that allow", requests: [robotsRequest(0, PLAIN), request(1_100)], wrong: undefined },
  { name: "no robots.txt before the page", requests: [request(0)], wrong: /not answered yet/ },
  { name: "a page while the body of robots.txt still comes", requests: [robotsRequest(0, PLAIN), request(55)], wrong: /yet/ },
  { name: "rules that forbid", requests: [robotsRequest(0, CLOSED), request(1_100)], wrong: /forbids it/ },
  {
    name: "the longer rule allows",
    requests: [robotsRequest(0, CLOSED), request(1_100, { path: "/p1/open" })],
    wrong: undefined,
  },
  {
    name: "a group of our own goes before the one for all",
    requests: [robotsRequest(0, OURS), request(1_100)],
    wrong: undefined,
  },
  { name: "a group of our own forbids", requests: [robotsRequest(0, OURS), request(1_100, { path: "/q1" })], wrong: /forbids/ },
  { name: "404 allows", requests: [missing(0), request(1_100)], wrong: undefined },
  { name: "429 is no answer", requests: [missing(0, 429), request(1_100)], wrong: /not answered yet/ },
  {
    name: "503 forbids all",
    requests: [robotsRequest(0, PLAIN), missing(2_000, 503), request(9_000)],
    wrong: /could not be had/,
  },
  { name: "no answer forbids all", requests: [failed(0, { path: "/robots.txt" }), request(9_000)], wrong: /could not be had/ },
  {
    name: "rules again after a failure",
    requests: [missing(0, 503), robotsRequest(9_000, PLAIN), request(11_000)],
    wrong: undefined,
  },
  {
    name: "the newest rules count",
    requests: [robotsRequest(0, PLAIN), robotsRequest(2_000, CLOSED), request(4_000)],
    wrong: /forbids it/,
  },
  {
    name: "rules of a day ago and the time to leave",
    requests: [robotsRequest(0, PLAIN), request(24 * HOUR + 310)],
    wrong: undefined,
  },
  { name: "rules older than that", requests: [robotsRequest(0, PLAIN), request(24 * HOUR + 311)], wrong: /old/ },
  {
    name: "304 renews",
    requests: [robotsRequest(0, CLOSED), missing(24 * HOUR, 304), request(25 * HOUR)],
    wrong: /forbids it/,
  },
  { name: "304 without rules before it", requests: [missing(0, 304), request(9_000)], wrong: /could not be had/ },
  { name: "a redirect whose target was not asked", requests: [sentOn(0), request(2_000)], wrong: /not answered yet/ },
  { name: "a redirect to rules that allow", requests: [sentOn(0), target(1_000, PLAIN), request(2_000)], wrong: undefined },
  { name: "a redirect to rules that forbid", requests: [sentOn(0), target(1_000, CLOSED), request(2_000)], wrong: /forbids/ },
  { name: "the target was asked before", requests: [target(0, PLAIN), sentOn(1_000), request(2_000)], wrong: undefined },
  {
    name: "https has rules of its own",
    requests: [robotsRequest(0, PLAIN), request(2_000, { scheme: "https:" })],
    wrong: /yet/,
  },
];

for (const { name, requests, wrong } of cases) {
  test(`robots: ${name}`, () => {
    const words = saysOf(robots(facts()), requests);
    if (wrong === undefined) assert.deepEqual(words, []);
    else assert.match(words.join("\n"), wrong);
  });
}

test("robots: with two at a time, a page that was admitted before robots.txt was asked for is judged by the rules before", () => {
  const before = [robotsRequest(0, PLAIN), robotsRequest(10_000, CLOSED)];
  assert.deepEqual(saysOf(robots(facts(agreed())), [...before, request(10_250)]), []);
  assert.match(saysOf(robots(facts(agreed())), [...before, request(10_251)]).join(), /forbids/);
});
