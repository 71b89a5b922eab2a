// Do inspect and explain tell the same of a crawl in the cloud as of one in a folder? On emulators.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newHost } from "../../core/politeness/host-clock.ts";
import { urlIdentity } from "../../core/url/keys.ts";
import { runTool, type Tool } from "../../tools/lib/command.ts";
import { explainTool } from "../../tools/lib/explain-tool.ts";
import { inspectTool } from "../../tools/lib/inspect-tool.ts";
import { cloudTests } from "../emulators/cloud-tests.ts";
import { type CloudCrawl, setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";
import { copyToCloud } from "../lib/daily-crawl.ts";
import { dataFolder } from "./data-folder.ts";

const NOW = Date.now();
const HOUR = 3_600_000;
const SEEN = "http://a.test/seen";

await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
  let undo: () => void;
  let folder: string;
  let cloud: CloudCrawl;
  const ends: (() => unknown)[] = [];
  before(async () => {
    undo = withEnvironment(emulators().env);
    const event = { hostKey: "http://a.test", at: NOW - HOUR };
    folder = await dataFolder(
      { after: (end: unknown) => void ends.push(end as () => unknown) },
      {
        seeds: ["http://a.test/"],
        hosts: { "a.test": { ...newHost(1), lastAnsweredAt: NOW - HOUR, lastEndAt: NOW - HOUR, pages: 3 } },
        urls: [{ url: SEEN, version: 2, priority: 2, nextFetchAt: NOW + 48 * HOUR, lastOutcome: "unchanged", lastStatus: 304 }],
        fetches: [1, 2, 3].map((at) => ({
          ...{
            ...event,
            at: event.at + at,
            url: SEEN,
            urlId: urlIdentity(SEEN).urlId,
            paceKey: "a.test",
            kind: "page" as const,
          },
          ...{ leaseId: `${at}`, version: at, outcome: "unchanged" as const, status: 304 },
        })),
        skips: [{ ...event, reason: "depth", count: 7, samples: ["http://a.test/deep"], source: "link" }],
      },
    );
    cloud = await setUpCrawl();
    await copyToCloud(folder, cloud);
  });
  after(async () => {
    for (const end of ends) await end();
    undo();
  });

  /** Without what tells a folder from the cloud, and the time of asking. */
  async function told(tool: Tool<string>, argument: string, place: string[]) {
    const { code, stdout, stderr } = await runTool(tool, [argument, ...place, "--json"]);
    assert.equal(stderr, "");
    const { at: _at, running: _running, ...view } = JSON.parse(stdout);
    return { code, view };
  }

  for (const [tool, argument] of [
    [inspectTool, SEEN],
    [inspectTool, "http://a.test/deep"],
    [inspectTool, "http://a.test/unseen"],
    [explainTool, "a.test"],
    [explainTool, "none.test"],
  ] as const)
    test(`${tool.name} ${argument} says of the cloud what it says of the folder`, async () => {
      const place = cloud.flags.slice(2); // without --stores cloud
      const [there, here] = [await told(tool, argument, place), await told(tool, argument, ["--data", folder])];
      assert.deepEqual(there, here);
      if (argument === SEEN) assert.equal(there.view.events.length, 3);
    });

  test("a crawl that was not begun is told by name, and two places at once are refused", async () => {
    const { flags } = await setUpCrawl();
    const none = await runTool(inspectTool, [SEEN, ...flags.slice(2)]);
    assert.deepEqual([none.code, /has no configuration: start it first/.test(none.stderr)], [5, true], none.stderr);
    const both = await runTool(inspectTool, [SEEN, ...flags.slice(2), "--data", folder]);
    assert.deepEqual([both.code, /not in both/.test(both.stderr)], [2, true], both.stderr);
  });
});
