import assert from "node:assert/strict";
import { test } from "node:test";
import { rowKey } from "../../schemas/row-key.ts";
import { judgeView, robotsReader } from "../../transforms/robots-reader.ts";
import { START, world } from "./world.ts";

const KEY = rowKey("a.test", "http://a.test");
const rules = (text: string) => ({
  status: "rules" as const,
  fetchedAt: START,
  expiresAt: START + 1_000,
  body: Buffer.from(`User-agent: *\n${text}\n`),
});

test("views come in the order of the host keys, and what is not there is missing", async () => {
  const { services } = world();
  await services.tables.robots.insertIfAbsent([{ key: KEY, value: rules("Disallow: /x") }]);
  const views = await services.robots.read("a.test", ["https://a.test", "http://a.test"]);
  assert.equal(views[0]?.state, undefined);
  assert.equal(judgeView(views[0], "https://a.test/", START).verdict, "missing");
  assert.equal(judgeView(views[1], "http://a.test/x", START).verdict, "disallow");
  assert.equal(judgeView(views[1], "http://a.test/y", START).verdict, "allow");
  assert.equal(judgeView(views[1], "http://a.test/y", START + 1_000).verdict, "missing", "expired rules allow nothing");
  assert.equal(judgeView(undefined, "http://a.test/y", START).verdict, "missing");
  assert.deepEqual(await services.robots.read("a.test", []), []);
});

test("rules are parsed once a version of the record: the parsed ones are the very same, until it changes", async () => {
  const { services } = world();
  const reader = robotsReader(services.tables.robots, "OurBot");
  await services.tables.robots.insertIfAbsent([{ key: KEY, value: rules("Disallow: /x") }]);
  const [first] = await reader.read("a.test", ["http://a.test"]);
  const [second] = await reader.read("a.test", ["http://a.test"]);
  assert.equal(second?.rules, first?.rules);
  await services.tables.robots.compareAndSet(KEY, rules("Disallow: /y"), first!.rev!);
  const [third] = await reader.read("a.test", ["http://a.test"]);
  assert.notEqual(third?.rules, first?.rules);
  assert.equal(judgeView(third, "http://a.test/x", START).verdict, "allow");
});

test("what is kept of large files is bounded: the rules read longest ago are parsed again", async () => {
  const { services } = world();
  const reader = robotsReader(services.tables.robots, "OurBot");
  const large = rules(`Disallow: /x\n#${"x".repeat(480 * 1024)}`);
  const hostKeys = Array.from({ length: 80 }, (_, index) => `http://a.test:${8000 + index}`);
  for (const hostKey of hostKeys)
    await services.tables.robots.insertIfAbsent([{ key: rowKey("a.test", hostKey), value: large }]);
  const rulesOf = async (hostKey: string) => (await reader.read("a.test", [hostKey]))[0]?.rules;
  const early = [];
  for (const hostKey of hostKeys.slice(0, 40)) early.push(await rulesOf(hostKey));
  assert.equal(await rulesOf(hostKeys[0]!), early[0]);
  for (const hostKey of hostKeys.slice(40)) await rulesOf(hostKey);
  assert.equal(await rulesOf(hostKeys[0]!), early[0]);
  assert.notEqual(await rulesOf(hostKeys[1]!), early[1]);
});
