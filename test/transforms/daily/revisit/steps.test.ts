// Do the steps of the planning keep what they are told on the way: thresholds to their last digit, pauses, ranges, parts?
import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeScores } from "../../../../core/revisit/day-scores.ts";
import { decode, encode } from "../../../../schemas/codec.ts";
import { keyRanges } from "../../../../schemas/row-key.ts";
import { hostRuns } from "../../../../transforms/daily/host-runs.ts";
import { carryOutSchedule, scheduleParts } from "../../../../transforms/daily/revisit/carry-out.ts";
import { hostWants, revisitFacts } from "../../../../transforms/daily/revisit/host-wants.ts";
import { planRange } from "../../../../transforms/daily/revisit/plan-range.ts";
import {
  crawlScores,
  crawlThreshold,
  rangeThreshold,
  thresholdOf,
  toldOf,
  wholeRange,
} from "../../../../transforms/daily/revisit/thresholds.ts";
import { revisitWishes } from "../../../../transforms/daily/revisit/wishes.ts";
import { bundle } from "../../contexts.ts";
import { AS_OF, CONFIG, type GivenCrawl, givenCrawl } from "../given.ts";

test("the share of five billion pages that a thousand visits are survives its way", () => {
  const share = 1_000 / 5e9;
  const told = decode(rangeThreshold, encode(rangeThreshold, toldOf("a.test", { bin: 77, share })));
  assert.ok(Math.abs(thresholdOf(told).share / share - 1) < 1e-4);
  assert.equal(thresholdOf(told).bin, 77);
});

test("one threshold over the crawl is told to every range, and none where there is room", () => {
  const scores = { wanted: 10_000, counts: [0, 4, 6] };
  const told = (revisitsPerDay: number) => {
    const context = bundle<typeof crawlThreshold.outputs>();
    crawlThreshold.make({ revisitsPerDay }, {}).process({ key: "", value: scores }, context);
    return context.emitted.map(({ value }) => value);
  };
  assert.deepEqual(told(10), []);
  assert.deepEqual(
    told(6).map(({ key }) => key),
    keyRanges.map(({ part }) => part),
  );
  assert.deepEqual(thresholdOf(told(8)[0]!.value), { bin: 1, share: 0.5 });
  assert.deepEqual(
    crawlScores.merge(crawlScores.add(crawlScores.create(), scores), scores),
    mergeScores(structuredClone(scores), scores),
  );
});

const wantsOf = async (crawl: GivenCrawl) => {
  const { tables, live } = crawl.services;
  const wants = [];
  for (const range of keyRanges)
    for await (const each of hostWants(hostRuns(tables, range), { asOf: AS_OF, config: live.now() })) wants.push(each);
  return wants;
};

test("a host that is paused has no room for anything", async (context) => {
  const crawl = await givenCrawl(context, { policies: [{ host: "held.test", paused: true }] });
  await crawl.put({ url: "http://held.test/" }, { url: "http://free.test/" });
  const rows = (await wantsOf(crawl)).map(({ row }) => row);
  assert.deepEqual(Object.fromEntries(rows.map(({ paceKey, capacity }) => [paceKey, capacity > 0])), {
    "held.test": false,
    "free.test": true,
  });
});

test("a near-duplicate is visited later, a page alone is not", async (context) => {
  const crawl = await givenCrawl(context);
  const cluster = { id: Buffer.alloc(8, 1), role: "copy" as const };
  await crawl.put({ url: "http://a.test/copy", cluster }, { url: "http://a.test/alone" });
  const [copy, alone] = await Promise.all(["copy", "alone"].map((name) => crawl.record(`http://a.test/${name}`)));
  assert.equal(revisitFacts(copy!, undefined, AS_OF).laterBy, 4);
  assert.equal(revisitFacts(alone!, undefined, AS_OF).laterBy, undefined);
});

test("a range is planned whether a host of it has a threshold or not, and only a range that there is", async (context) => {
  const { services } = await givenCrawl(context);
  const emitted = bundle<typeof revisitWishes.outputs>();
  await revisitWishes.make(CONFIG, services).process(keyRanges[3]!, emitted);
  assert.deepEqual(emitted.emitted[0], { output: "thresholds", value: { key: "03", value: wholeRange } });
  async function* none() {}
  await assert.rejects(async () => planRange.make(CONFIG, services).process("zz", none(), bundle()), /'zz'/);
});

test("a schedule that was never written has no parts, and is carried out all the same", async (context) => {
  const { services } = await givenCrawl(context);
  const parts = bundle<typeof scheduleParts.outputs>();
  await scheduleParts.make(CONFIG, services).process({}, parts);
  assert.deepEqual(
    parts.emitted.map(({ output }) => output),
    ["parts"],
  );
  const missing = { part: "00", name: "daily/none.ndjson.gz" };
  await assert.rejects(async () => carryOutSchedule.make(CONFIG, services).process(missing, bundle()), /none\.ndjson\.gz/);
});
