// Do the alerts and the dashboard ask for what the workers count, and does the query about hosts fail when, and only when, one was hurried?
import assert from "node:assert/strict";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { outcomes } from "../../schemas/reasons.ts";
import { openStats } from "../../tools/lib/stats-database.ts";
import { blocks, CRAWL, ofType, only, plannedCrawl } from "./planned-crawl.ts";
import { TERRAFORM } from "./terraform-module.ts";

test("counters of alerts and dashboard are counted somewhere, and outcomes are ones that a fetch can have", async () => {
  const plan = await plannedCrawl();
  const asked = JSON.stringify([...ofType(plan, "google_monitoring_alert_policy"), only(plan, "google_monitoring_dashboard")]);
  const names = new Set(asked.match(/gleaner_\w+_total/g));
  assert.ok(names.size >= 3);
  const root = join(TERRAFORM, "..");
  const sources = globSync("{transforms,io,pipelines}/**/*.ts", { cwd: root }).map((path) =>
    readFileSync(join(root, path), "utf8"),
  );
  for (const name of names)
    assert.ok(
      sources.some((source) => source.includes(`"${name}"`)),
      `nothing counts ${name}`,
    );
  const [, alternatives] = /outcome=\(([^)]*)\)/.exec(asked)!;
  for (const outcome of alternatives!.split("|")) assert.ok((outcomes as readonly string[]).includes(outcome), outcome);
});

test("there is an alert for each thing that an operator must know at once, and each says what to do", async () => {
  const alerts = ofType(await plannedCrawl(), "google_monitoring_alert_policy");
  const names = alerts.map(({ display_name: name }) => String(name).replace(`${CRAWL.crawl}: `, ""));
  for (const name of ["host-policy-violations", "eligible-lag", "backlog", "dead-letters", "parse-backlog", "fetch-failures"])
    assert.ok(names.includes(name), name);
  for (const alert of alerts) assert.ok(String(blocks(alert, "documentation")[0]?.content).length > 40, alert.at);
});

const SECOND_MS = 1000;
const at = Date.now() - 60 * SECOND_MS;

const visits: [told: string, gapsMs: number[], fault: boolean][] = [
  ["a host that was left alone for a second each time", [1000, 1500], false],
  ["a host that was asked again after 900 ms", [1000, 900], true],
  ["a host that agreed to several requests at once", [-40], false],
];

for (const [told, gapsMs, fault] of visits)
  test(`the query about violations ${fault ? "fails" : "answers 0"} for ${told}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "gleaner-watch-"));
    const day = new Date().toISOString().slice(0, 10);
    mkdirSync(join(folder, `events/fetch/dt=${day}`), { recursive: true });
    writeFileSync(
      join(folder, `events/fetch/dt=${day}/part-1.ndjson`),
      fetches(gapsMs)
        .map((event) => `${JSON.stringify(event)}\n`)
        .join(""),
    );
    const { connection, close } = await openStats(folder);
    try {
      const plan = await plannedCrawl({ given: { project: "some-project" } });
      const { query } = only(plan, "google_bigquery_data_transfer_config").params as { query: string };
      const ask = () => connection.runAndReadAll(query.replaceAll(`${CRAWL.project}.${CRAWL.dataset}.`, "gleaner."));
      if (fault) await assert.rejects(ask, /1 gaps below 1000 ms, one before http:\/\/a\.test\//);
      else assert.deepEqual((await ask()).getRowsJson(), [[0]]);
    } finally {
      close();
      await rm(folder, { recursive: true });
    }
  });

/** Fetch events of one host, each answered after 50 ms, the next sent so long after that. */
function fetches(gapsMs: readonly number[]): object[] {
  const sent = [at];
  for (const gapMs of gapsMs) sent.push(sent.at(-1)! + 50 + gapMs);
  return sent.map((time, index) => ({
    at: time,
    url: `http://a.test/${index}`,
    urlId: `u${index}`,
    hostKey: "http://a.test",
    paceKey: "a.test",
    kind: "page",
    leaseId: `l${index}`,
    version: 0,
    outcome: "fetched",
    status: 200,
    latencyMs: 50,
  }));
}
