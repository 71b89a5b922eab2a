import assert from "node:assert/strict";
import { test } from "node:test";
import { sketchBytesMax } from "../../../core/traps/sketch.ts";
import { counted, isPaused, mergedCounts, newTemplateCount, templateVerdict } from "../../../core/traps/template-verdict.ts";
import { defaultTrapLimits } from "../../../core/traps/trap-limits.ts";
import { urlIdentity } from "../../../core/url/keys.ts";
import { decode, encode } from "../../../schemas/codec.ts";
import { type TemplateCount, templateCount } from "../../../schemas/template-count.ts";

const HOST = "http://site.test";
const urlOf = (index: number) => `${HOST}/n/${index}`;
const idOf = (index: number) => urlIdentity(urlOf(index)).urlId;
const limits = { ...defaultTrapLimits, urlsPerTemplate: 100, urlsPerQueryTemplate: 10, sampleOneIn: 10 };

function countOf(urls: number, template = "/n/{number}"): TemplateCount {
  let count = newTemplateCount(HOST, template);
  for (let index = 0; index < urls; index++) count = counted(count, idOf(index), urlOf(index));
  return count;
}

/** How many of 2,000 URLs a template with this many would still take. */
function takenOf(count: TemplateCount): Set<number> {
  const taken = new Set<number>();
  for (let index = 0; index < 2_000; index++)
    if (templateVerdict(count, limits, idOf(index)).kind !== "paused") taken.add(index);
  return taken;
}

test("up to its limit a template takes every URL", () => {
  assert.equal(takenOf(countOf(90)).size, 2_000);
  assert.equal(isPaused(countOf(90), limits), false);
  assert.equal(isPaused(countOf(150), limits), true);
});

test("beyond it, it is paused for all but a sample, and says why", () => {
  const count = countOf(150);
  const sample = takenOf(count);
  assert.ok(sample.size > 120 && sample.size < 280, `${sample.size} of 2000 at one in ten`);
  const refused = Array.from({ length: 2_000 }, (_, index) => index).find((index) => !sample.has(index));
  assert.deepEqual(templateVerdict(count, limits, idOf(refused ?? -1)), { kind: "paused", reason: "template-limit" });
});

test("the sample thins out with each doubling, and the smaller lies within the larger", () => {
  const small = takenOf(countOf(150));
  const large = takenOf(countOf(500));
  assert.ok(large.size < small.size / 2, `${large.size} of ${small.size}`);
  for (const index of large) assert.ok(small.has(index));
});

test("a template with a query has its own limit", () => {
  const count = countOf(50, "/n?id=");
  assert.ok(takenOf(count).size < 300);
  assert.equal(takenOf({ ...count, template: "/n/{number}" }).size, 2_000);
});

test("a policy with a higher limit releases what was paused, and one with a sample of 1 takes all", () => {
  const count = countOf(150);
  assert.equal(templateVerdict(count, { ...limits, urlsPerTemplate: 1_000 }, idOf(3)).kind, "taken");
  for (let index = 0; index < 50; index++)
    assert.notEqual(templateVerdict(count, { ...limits, sampleOneIn: 1 }, idOf(index)).kind, "paused");
});

test("a record keeps three examples, and a URL that comes again changes nothing", () => {
  const count = countOf(40);
  assert.deepEqual(count.samples, [urlOf(0), urlOf(1), urlOf(2)]);
  assert.equal(counted(count, idOf(7), urlOf(7)), count);
});

test("two workers' counts add up to that of one, with the earlier pause", () => {
  const all = countOf(60);
  let late = newTemplateCount(HOST, all.template);
  for (let index = 30; index < 60; index++) late = counted(late, idOf(index), urlOf(index));
  const merged = mergedCounts({ ...countOf(30), pausedAt: 9 }, { ...late, pausedAt: 5 });
  assert.deepEqual(merged, { ...all, pausedAt: 5 });
  assert.equal(mergedCounts(merged, late), merged);
});

test("a record is bounded in bytes, whatever it has seen", () => {
  let count = newTemplateCount(HOST, "/n/{number}");
  for (let index = 0; index < 3_000; index++) count = counted(count, idOf(index), `${urlOf(index)}/${"x".repeat(2_000)}`);
  const bytes = encode(templateCount, { ...count, pausedAt: 1_900_000_000_000 });
  assert.ok(bytes.length <= sketchBytesMax + 3 * 203 + 60, `${bytes.length}`);
  assert.deepEqual(decode(templateCount, bytes), { ...count, pausedAt: 1_900_000_000_000 });
});
