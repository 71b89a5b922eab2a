import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { cloudPlace, openOrders } from "../../pipelines/wiring.ts";
import { runHosts } from "../../tools/lib/hosts-tool.ts";
import { cloudTests } from "../emulators/cloud-tests.ts";
import { setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";

/** A folder in which there seems to be a crawl. */
async function inFolder(run: (hosts: (...args: string[]) => ReturnType<typeof runHosts>) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "gleaner-hosts-"));
  writeFileSync(join(folder, "state.sqlite"), "");
  try {
    await run((...args) => runHosts([...args, "--data", folder]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test("each order stands until it is lifted, and the narrower comes before the wider", () =>
  inFolder(async (hosts) => {
    assert.match((await hosts("list")).stdout, /Nothing is ordered/);
    await hosts("slow", "*.example.org", "--delay-ms", "9000");
    await hosts("pause", "www.example.org");
    await hosts("slow", "www.example.org", "--delay-ms", "5000");
    const last = await hosts("exclude", "https://www.example.org/any", "--pattern", "https://www.example.org/x/**", "--json");
    assert.deepEqual(JSON.parse(last.stdout), {
      version: 4,
      hosts: [
        { host: "www.example.org", pattern: "https://www.example.org/x/**", excluded: true },
        { host: "www.example.org", agreed: false, paused: true, delayMs: 5000 },
        { host: "*.example.org", agreed: false, delayMs: 9000 },
      ],
    });
    await hosts("resume", "www.example.org");
    await hosts("release", "www.example.org", "--pattern", "https://www.example.org/x/**");
    const { stdout } = await hosts("list");
    assert.equal(
      stdout,
      "www.example.org: one request in 5000 ms at most\n*.example.org: one request in 9000 ms at most\nversion 6\n",
    );
  }));

const usages: [args: string[], said: RegExp][] = [
  [[], /one of list, pause/],
  [["stop", "a.test"], /not 'stop'/],
  [["pause"], /takes one host/],
  [["pause", "a.test", "b.test"], /takes one host/],
  [["list", "a.test"], /list takes no host/],
  [["slow", "a.test"], /--delay-ms, a whole number of 1000 or more/],
  [["slow", "a.test", "--delay-ms", "10"], /1000 or more/],
  [["pause", "a.test", "--delay-ms", "5000"], /--delay-ms is for slow/],
  [["slow", "a.test", "--delay-ms", "5000", "--pattern", "http://a.test/**"], /one clock/],
  [["pause", "a.test", "--pattern", "/x"], /pattern/],
  [["pause", "not a host"], /neither a host name/],
  [["pause", "a.test", "--colour", "red"], /colour/],
];
for (const [args, said] of usages)
  test(`bad usage: ${args.join(" ") || "nothing"}`, () =>
    inFolder(async (hosts) => {
      const { code, stderr, stdout } = await hosts(...args);
      assert.deepEqual([code, stdout], [exitCodes.badUsage, ""]);
      assert.match(stderr, said);
      assert.match((await hosts("list")).stdout, /Nothing is ordered/);
    }));

test("where there is no crawl nothing is written, and the code says so", async () => {
  const { code, stderr } = await runHosts(["pause", "a.test", "--data", join(tmpdir(), "gleaner-no-such-folder")]);
  assert.equal(code, exitCodes.brokenStore);
  assert.match(stderr, /gleaner-no-such-folder/);
});

test("the help says what each order does", async () => {
  const { code, stdout } = await runHosts(["--help"]);
  assert.equal(code, exitCodes.done);
  for (const verb of ["list", "pause", "resume", "slow", "exclude", "release"])
    assert.match(stdout, new RegExp(`hosts -- ${verb}`));
});

test("an order about every host stands behind all others", () =>
  inFolder(async (hosts) => {
    await hosts("pause", "*");
    const { stdout } = await hosts("slow", "*.example.org", "--delay-ms", "9000", "--json");
    const standing = JSON.parse(stdout).hosts.map(({ host }: { host: string }) => host);
    assert.deepEqual(standing, ["*.example.org", "*"]);
    assert.match((await hosts("resume", "*")).stdout, /Nothing is ordered of \* now/);
  }));

await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
  test("orders about the hosts of a crawl in the cloud stand where its workers read them", async (context) => {
    context.after(withEnvironment(emulators().env));
    const { flags } = await setUpCrawl();
    const place = flags.filter((flag) => flag !== "--stores" && flag !== "cloud");
    assert.match((await runHosts(["pause", "a.test", ...place])).stdout, /Of a\.test: a\.test: paused \(version 1, 1 order\)/);
    assert.match((await runHosts(["list", ...place])).stdout, /^a\.test: paused\nversion 1\n$/);
    const cloud = cloudPlace({ project: place[1]!, crawl: place[3]! })!;
    const { orders, close } = await openOrders("", cloud);
    assert.deepEqual((await orders.changed())?.hosts, [{ host: "a.test", agreed: false, paused: true }]);
    await close();
    const none = await runHosts(["list", "--project", place[1]!, "--crawl", "never-set-up"]);
    assert.equal(none.code, exitCodes.brokenStore);
    assert.match(none.stderr, /^hosts: .*set-up/);
  });
});
