import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { judgeTemplates, templatesToRead } from "../../../core/traps/judge-templates.ts";
import { sketchEstimate } from "../../../core/traps/sketch.ts";
import { templateRowKey } from "../../../core/traps/template.ts";
import { defaultTrapLimits } from "../../../core/traps/trap-limits.ts";
import { hostKeyOf, urlIdentity } from "../../../core/url/keys.ts";
import type { TrapLimits } from "../../../schemas/crawl-config.ts";
import type { TemplateCount } from "../../../schemas/template-count.ts";

const NOW = 1_900_000_000_000;
const A = "http://a.test";
const B = "http://b.test";
const limits: TrapLimits = {
  ...defaultTrapLimits,
  urlsPerTemplate: 50,
  urlsPerQueryTemplate: 20,
  sampleOneIn: 1_000_000,
  templatesPerHost: 10,
};

const candidate = (url: string, change: Partial<TrapLimits> = {}) => ({
  canonicalUrl: url,
  urlId: urlIdentity(url).urlId,
  hostKey: hostKeyOf(url),
  limits: { ...limits, ...change },
});
const numbered = (count: number, urlOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => candidate(urlOf(index)));

/** Judges bundle by bundle, each with what was written before, as the stage does. */
function judged(bundles: readonly (readonly ReturnType<typeof candidate>[])[]) {
  const store = new Map<string, TemplateCount>();
  const taken: string[] = [];
  for (const bundle of bundles) {
    const read = templatesToRead(bundle).flatMap((name) => store.get(templateRowKey(name)) ?? []);
    const { verdicts, changed } = judgeTemplates(bundle, read, NOW);
    for (const count of changed) store.set(templateRowKey(count), count);
    bundle.forEach(({ canonicalUrl }, index) => {
      if (verdicts[index]?.verdict.kind !== "paused") taken.push(canonicalUrl);
    });
  }
  return { store, taken };
}

test("a host's first URL gives it a record, and one to its template", () => {
  const { store, taken } = judged([[candidate(`${A}/n/1`)]]);
  assert.deepEqual(taken, [`${A}/n/1`]);
  assert.deepEqual([...store.values()].map(({ hostKey, template }) => [hostKey, template]).sort(), [
    [A, ""],
    [A, "/n/{number}"],
  ]);
});

test("beyond its limit a template is paused, also within one bundle, and the record says since when", () => {
  const { store, taken } = judged([numbered(200, (index) => `${A}/n/${index}`)]);
  assert.ok(taken.length >= 45 && taken.length <= 55, `${taken.length}`);
  assert.equal(store.get(templateRowKey({ hostKey: A, template: "/n/{number}" }))?.pausedAt, NOW);
});

test("a pause keeps the time of its beginning, however long it lasts", () => {
  const { store } = judged([numbered(200, (index) => `${A}/n/${index}`)]);
  const later = judgeTemplates(
    numbered(500, (index) => `${A}/n/${1_000 + index}`),
    store.values(),
    NOW + 9,
  );
  assert.deepEqual(
    later.changed.map(({ pausedAt }) => pausedAt),
    [NOW],
  );
});

test("a paused template touches neither another template of its host nor the same one of another host", () => {
  const others = [...numbered(20, (index) => `${A}/m/${index}`), ...numbered(20, (index) => `${B}/n/${index}`)];
  const { taken } = judged([numbered(500, (index) => `${A}/n/${index}`), others]);
  for (const { canonicalUrl } of others) assert.ok(taken.includes(canonicalUrl), canonicalUrl);
});

test("a bundle that comes twice is counted once", () => {
  const bundle = numbered(30, (index) => `${A}/n/${index}`);
  const once = judged([bundle]);
  const twice = judged([bundle, bundle]);
  assert.deepEqual(twice.store, once.store);
  const { changed } = judgeTemplates(bundle, once.store.values(), NOW + 1);
  assert.equal(changed.length, 0);
});

test("a policy's limit holds for the URLs that it is about", () => {
  const bundle = numbered(40, (index) => `${A}/n/${index}`).map((one) => ({
    ...one,
    limits: { ...limits, urlsPerTemplate: 5 },
  }));
  assert.ok(judged([bundle]).taken.length <= 6);
});

test("a host that makes up directories runs out of templates, and is then one pattern", () => {
  const word = (index: number) => [...String(index)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  const { store, taken } = judged(numbered(3_000, (index) => `${A}/${word(index)}/page`).map((one) => [one]));
  assert.ok(store.size <= 2 * limits.templatesPerHost + 5, `${store.size} records`);
  assert.ok(taken.length <= 2 * limits.templatesPerHost + 1.2 * limits.urlsPerTemplate, `${taken.length} taken`);
});

test("a template that has its record keeps it when the host runs out of templates", () => {
  const early = candidate(`${A}/early/1`);
  const many = numbered(400, (index) => `${A}/${String.fromCharCode(97 + (index % 26))}${"x".repeat(index % 15)}/page`);
  const { store, taken } = judged([[early], many, [candidate(`${A}/early/2`)]]);
  assert.ok(taken.includes(`${A}/early/2`));
  assert.equal(sketchEstimate(store.get(templateRowKey({ hostKey: A, template: "/early/{number}" }))!.sketch), 2);
});

test("law: one bundle or many, the counts are the same", () => {
  const url = fc
    .tuple(fc.constantFrom(A, B), fc.constantFrom("n", "m"), fc.nat(40))
    .map(([host, dir, n]) => `${host}/${dir}/${n}`);
  fc.assert(
    fc.property(fc.array(url, { maxLength: 60 }), (urls) => {
      const all = urls.map((one) => candidate(one));
      const together = judged([all]).store;
      assert.deepEqual(judged(all.map((one) => [one])).store, together);
    }),
    { numRuns: 40 },
  );
});
