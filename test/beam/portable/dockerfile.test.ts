import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { importsOf } from "../../tidy/import-rules.ts";

const ROOT = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

const instructions = read("Dockerfile")
  .split("\n")
  .filter((line) => line.trim() !== "" && !line.startsWith("#"))
  .map((line) => ({ word: line.split(" ", 1)[0]!, rest: line.slice(line.indexOf(" ") + 1).trim() }));
const stages: (typeof instructions)[] = [];
for (const one of instructions) {
  if (one.word === "FROM") stages.push([]);
  stages.at(-1)?.push(one);
}
const last = stages.at(-1) ?? [];
const all = (word: string, of = instructions) => of.filter((one) => one.word === word).map(({ rest }) => rest);
const launcher = stages.find(([from]) => from?.rest.endsWith(" AS launcher")) ?? [];
const entryOf = (stage: typeof instructions) => JSON.parse(all("ENTRYPOINT", stage)[0] ?? "[]") as string[];
/** `/app/dist/a.js` is emitted of `a.ts`. */
const sourceOf = (stage: typeof instructions) => entryOf(stage)[1]?.replace("/app/dist/", "").replace(/\.js$/, ".ts") ?? "";

test("every stage is of the very Node that the tests run on, and the last one is not the build's", () => {
  const { version } = JSON.parse(read("package-lock.json")).packages["node_modules/node"];
  const images = new Set(all("FROM").map((rest) => rest.split(" ")[0]));
  assert.deepEqual([...images], [`node:${version}-bookworm-slim`]);
  assert.ok(stages.length > 1);
});

for (const [who, stage] of [
  ["worker", last],
  ["launcher", launcher],
] as const) {
  test(`the ${who} is no root, by number`, () => {
    const [uid, gid] = (all("USER", stage)[0] ?? "0:0").split(":").map(Number);
    assert.ok(uid !== undefined && uid > 0 && gid !== undefined && gid > 0);
    assert.equal(stage.at(-1)?.word, "ENTRYPOINT", "nothing is done as another user after it");
  });

  test(`the ${who}'s entry is emitted JavaScript of a file that there is, and takes arguments`, () => {
    const entry = entryOf(stage);
    assert.equal(entry.length, 2);
    assert.equal(entry[0], "node");
    assert.match(entry[1] ?? "", /^\/app\/dist\/.+\.js$/);
    assert.ok(existsSync(join(ROOT, sourceOf(stage))), sourceOf(stage));
    assert.deepEqual(all("CMD", stage), []);
  });
}

test("the launcher's job service is the one that the tests have seen, and its packages are no development's", () => {
  const [, version] = /const VERSION = "([\d.]+)"/.exec(read("test/engines/dataflow.ts")) ?? [];
  assert.ok(
    all("RUN", launcher).some((run) => run.includes(`'apache-beam[gcp]==${version}'`)),
    version,
  );
  assert.ok(all("COPY", launcher).every((copy) => copy.startsWith("--from=")));
});

test("the last stage has nothing to build with: packages without development, no installs, no npm", () => {
  const runs = all("RUN", last).join("\n");
  assert.doesNotMatch(runs, /apt-get|apk|curl|wget|npm (?:ci|install)/);
  assert.match(runs, /rm -rf .*\/npm\b/);
  assert.ok(all("RUN").some((run) => /npm ci .*--omit=dev/.test(run)));
  assert.ok(
    all("COPY", last).every((copy) => copy.startsWith("--from=")),
    "only what other stages made",
  );
});

test("no package runs a script of its own at install", () => {
  const installs = all("RUN").filter((run) => run.includes("npm ci"));
  assert.ok(installs.length > 0 && installs.every((run) => run.includes("--ignore-scripts")));
});

test("the build has just the folders that the entry reaches by its imports", () => {
  const reached = new Set<string>();
  const rooms = new Set<string>();
  const follow = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    rooms.add(path.split("/")[0]!);
    for (const { specifier } of importsOf(read(path)))
      if (specifier.startsWith(".")) follow(posix.join(posix.dirname(path), specifier));
  };
  for (const stage of [last, launcher]) follow(sourceOf(stage));
  const copied = all("COPY", stages[0]).map((copy) => copy.split(" ")[0]!);
  const folders = copied.filter((name) => !name.includes("."));
  assert.deepEqual(folders.sort(), [...rooms].sort());
});

test("no copy takes the whole folder, in which there may be data and keys", () => {
  for (const copy of all("COPY")) assert.doesNotMatch(copy, /^\.\/? /);
});
