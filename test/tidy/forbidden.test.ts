import assert from "node:assert/strict";
import { test } from "node:test";
import { anyLetPass, forbiddenWords } from "./forbidden.ts";
import { givenFiles, projectFiles } from "./rule.ts";

test("time, chance and the console are reached through ports alone", () => {
  assert.deepEqual(forbiddenWords(projectFiles()), []);
});

test("Biome refuses any", () => {
  assert.deepEqual(anyLetPass(projectFiles()), []);
});

const offending: [source: string, what: RegExp][] = [
  ["const t = Date.now();", /Date\.now; take the Clock port/],
  ["const f = Date\n  .now;", /:1: Date\.now/],
  ["const t = new Date();", /new Date\(\)/],
  ["const t = new Date;", /new Date\(\)/],
  ["const t = Date();", /Date\(\)/],
  ["const t = performance.now();", /performance/],
  ["const t = process.hrtime.bigint();", /process\.hrtime/],
  ["const r = Math.random();", /Math\.random; take the Random port/],
  ["const r = randomUUID();", /chance from crypto/],
  ["setTimeout(() => {}, 1);", /timer/],
  ["globalThis.setInterval(f);", /timer/],
  ["setImmediate(f);", /timer/],
  ["process.nextTick(f);", /queues/],
  ["queueMicrotask(f);", /queues/],
  ["const s = AbortSignal.timeout(5);", /AbortSignal\.timeout/],
  ['import { setTimeout as wait } from "node:timers/promises";', /timer/],
  ['const w = await import("node:timers/promises");', /node's timers/],
  ['import hooks from "node:perf_hooks";', /perf_hooks/],
  ["console.log(1);", /console; take the Log port/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a template
  ["const t = `${Date.now()}`;", /Date\.now/],
];
for (const [source, what] of offending)
  test(`an offender is found: ${source.replaceAll("\n", " ")}`, () => {
    for (const path of ["core/a.ts", "beam/embedded/a.ts", "transforms/a.ts", "pipelines/a.ts", "schemas/a.ts"])
      assert.match(forbiddenWords(givenFiles({ [path]: source })).join("\n"), what, path);
  });

const innocent: [path: string, source: string][] = [
  ["io/clock.ts", "Date.now(); setTimeout(f, 1); Math.random();"],
  ["test/a.ts", 'import { performance } from "node:perf_hooks"; new Date(); console.log(1);'],
  ["demo/a.ts", "Date.now();"],
  ["core/a.ts", "const d = new Date(at).toISOString(); const u = Date.UTC(1); const p = Date.parse(t); parseDate(t);"],
  ["core/a.ts", "// Date.now() and Math.random() are not for us\nconst s = 'setTimeout';"],
  ["pipelines/commands/crawl.ts", "console.log(1);"],
  ["tools/inspect.ts", "console.error(1);"],
];
for (const [path, source] of innocent)
  test(`no offender is seen in ${path}: ${source.slice(0, 40).replaceAll("\n", " ")}`, () => {
    assert.deepEqual(forbiddenWords(givenFiles({ [path]: source })), []);
  });

test("commands speak, but read no clock", () => {
  assert.equal(forbiddenWords(givenFiles({ "pipelines/commands/crawl.ts": "console.log(Date.now());" })).length, 1);
});

const configurations: [configuration: object, passes: boolean][] = [
  [{}, false],
  [{ linter: { rules: { suspicious: { noExplicitAny: "off" } } } }, true],
  [{ linter: { rules: { recommended: false } } }, true],
  [{ linter: { enabled: false } }, true],
];
for (const [configuration, passes] of configurations)
  test(`a Biome that ${passes ? "lets any pass is found" : "refuses any is taken"}: ${JSON.stringify(configuration)}`, () => {
    assert.equal(anyLetPass(givenFiles({ "biome.json": JSON.stringify(configuration) })).length, passes ? 1 : 0);
  });
