// Does inspect tell what the records say of a URL, and the one reason why it is not being fetched?
import assert from "node:assert/strict";
import { test } from "node:test";
import { newHost } from "../../core/politeness/host-clock.ts";
import { urlIdentity } from "../../core/url/keys.ts";
import type { FetchEvent } from "../../schemas/events.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { runTool } from "../../tools/lib/command.ts";
import { inspectTool } from "../../tools/lib/inspect-tool.ts";
import { dataFolder, type GivenData } from "./data-folder.ts";

const NOW = Date.now();
const HOUR = 3_600_000;

const rules: RobotsState = {
  status: "rules",
  fetchedAt: NOW - HOUR,
  expiresAt: NOW + HOUR,
  httpStatus: 200,
  body: Buffer.from("# ours\r\nUser-agent: *\r\n  disallow :  /private  # keep out\r\nAllow: /private/open\r\n"),
};
const fetched = (url: string, at: number, changes: Partial<FetchEvent> = {}): FetchEvent => ({
  at,
  url,
  urlId: urlIdentity(url).urlId,
  hostKey: "http://a.test",
  paceKey: "a.test",
  kind: "page",
  leaseId: "l",
  version: 0,
  outcome: "fetched",
  status: 200,
  ...changes,
});
const given: GivenData = {
  seeds: ["http://a.test/"],
  config: { depthMax: 5 },
  robots: { "http://a.test": rules },
  hosts: { "a.test": { ...newHost(1), lastAnsweredAt: NOW - HOUR, lastEndAt: NOW - HOUR, pages: 3 } },
  urls: [
    {
      url: "http://a.test/seen",
      version: 2,
      docVersion: 1,
      priority: 2,
      nextFetchAt: NOW + 48 * HOUR,
      lastOutcome: "unchanged",
      lastStatus: 304,
      lastFetchAt: NOW - HOUR,
      etag: '"v1"\u001b[2J',
      contentHash: Buffer.alloc(20, 7),
      quality: 61,
      cluster: { id: Buffer.from("00ff00ff00ff00ff", "hex"), role: "copy" },
      changeHistory: [
        { afterMs: 48 * HOUR, changed: false },
        { afterMs: 30 * HOUR, changed: true },
      ],
    },
    { url: "http://a.test/private/x" },
    { url: "http://a.test/private/open/x" },
    { url: "http://a.test/lost", due: false },
  ],
  fetches: [
    ...Array.from({ length: 12 }, (_, index) => fetched("http://a.test/seen", NOW - HOUR - index)).reverse(),
    fetched("http://a.test/other", NOW - 5),
  ],
  skips: [
    { at: NOW - 9, hostKey: "http://a.test", reason: "depth", count: 7, samples: ["http://a.test/deep"], source: "link" },
    {
      at: NOW - 8,
      hostKey: "http://a.test",
      reason: "template-limit",
      count: 9,
      samples: ["http://a.test/trap"],
      source: "link",
    },
  ],
};

test("each URL gets its code and its one reason, in the last line", async (context) => {
  const folder = await dataFolder(context, given);
  const table: [url: string, code: number, reason: RegExp][] = [
    ["http://a.test/seen", 0, /visited \(unchanged\) and its next visit lies ahead: due .*, in 1 d 23 h/],
    ["http://a.test/private/x", 0, /robots\.txt forbids it; .* And no crawl is running/],
    ["http://a.test/private/open/x", 0, /because no crawl is running on this folder; nothing else/],
    ["http://a.test/lost", 0, /no due entry leads to it/],
    ["http://a.test/robots.txt", 0, /robots\.txt has no record of its own/],
    ["http://a.test/deep", 0, /no record and would not be taken: .*--max-depth 5/],
    ["http://a.test/trap", 0, /no record and would not be taken: it was refused before, reason template-limit/],
    ["http://a.test/unseen", 4, /never seen: no page, .* would be taken\./],
    ["http://a.test/private/unseen", 4, /would be taken, and robots\.txt would forbid it/],
    ["http://b.test/", 0, /outside --scope host of a\.test/],
  ];
  for (const [url, code, reason] of table) {
    const told = await runTool(inspectTool, [url, "--data", folder]);
    assert.equal(told.stderr, "", url);
    assert.equal(told.code, code, url);
    assert.match(told.stdout.trimEnd().split("\n").at(-1) ?? "", reason, url);
  }
});

test("the deciding line of robots.txt is shown with its number, as it stands", async (context) => {
  const folder = await dataFolder(context, given);
  const shown = async (url: string) => (await runTool(inspectTool, [url, "--data", folder])).stdout;
  assert.match(await shown("http://a.test/private/x"), /disallow, line 3: disallow : {2}\/private {2}# keep out\n/);
  assert.match(await shown("http://a.test/private/open/x"), /allow, line 4: Allow: \/private\/open\n/);
  assert.match(await shown("http://a.test/seen"), /allow: no rule matches\n/);
});

test("the record, its due entry and the last ten outcomes are shown, a server's control characters are not", async (context) => {
  const folder = await dataFolder(context, given);
  const { stdout } = await runTool(inspectTool, ["http://a.test/seen", "--data", folder]);
  assert.match(stdout, /last outcome +unchanged \(HTTP 304\)/);
  assert.match(stdout, /content hash +sha256 (07){20}… /);
  assert.match(stdout, /record and entry agree/);
  assert.match(stdout, /quality +61 of 100\n +cluster +copy: says the very same .*; cluster 00ff00ff00ff00ff\n/);
  assert.match(stdout, /visits +2 revisits remembered, 1 change found\n +same after 2 d, changed after 1 d 6 h\n/);
  assert.match(stdout, /pages asked for 3 of 100000/);
  assert.equal(stdout.match(/: fetched 200/g)?.length, 10);
  assert.doesNotMatch(stdout, /\u001b/);
});

test("--json gives one object with times as ISO 8601 and the newest event first", async (context) => {
  const folder = await dataFolder(context, given);
  const { stdout } = await runTool(inspectTool, ["http://a.test/seen", "--json", "--data", folder]);
  const view = JSON.parse(stdout);
  assert.equal(view.record.lastFetchAt, new Date(NOW - HOUR).toISOString());
  assert.equal(view.events.length, 10);
  assert.equal(view.events[0].at, new Date(NOW - HOUR).toISOString());
  assert.deepEqual(view.due, { priority: 2, dueAt: view.record.nextFetchAt, stands: true });
  assert.equal(view.explanation.because, "not-due");
  assert.equal(view.running, false);
});
