import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const ROOT = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "gleaner-emitted-"));
const COMPILE_MS_MAX = 120_000;
const RUN_MS_MAX = 60_000;

/** As the image has it: package.json, node_modules and dist side by side. */
before(() => {
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "name": "gleaner", "version": "0.0.0" }');
  const compilerOptions = { noEmit: false, outDir: join(folder, "dist"), rootDir: ROOT, noCheck: true };
  const files = [join(ROOT, "pipelines/container/main.ts")];
  const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions, files, include: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const { status, stdout } = spawnSync(tsc, ["--project", folder], { encoding: "utf8", timeout: COMPILE_MS_MAX });
  assert.equal(status, 0, stdout);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const main = (...args: string[]) =>
  spawnSync(process.execPath, [join(folder, "dist/pipelines/container/main.js"), ...args], {
    ...{ encoding: "utf8", timeout: RUN_MS_MAX, env: { ...process.env, NODE_OPTIONS: "" } },
  });

const refused: [args: string[], cause: string][] = [
  [[], "a worker needs --id"],
  [["--id=a"], "a worker needs --control_endpoint, or --provision_endpoint to ask for it"],
  [["--id=a", "--control_endpoint=127.0.0.1:1"], "the job has no option 'gleanerWorker'"],
];
for (const [args, cause] of refused)
  test(`the emitted worker runs, and says of ${args.join(" ") || "no arguments"} what is missing`, () => {
    const { status, stdout, stderr } = main(...args);
    assert.equal(stdout, "");
    const line = JSON.parse(stderr.trim().split("\n").at(-1) ?? "{}") as { level: string; message: string };
    assert.deepEqual([line.level, line.message], ["error", "the worker failed"]);
    assert.ok(stderr.includes(cause), stderr);
    assert.equal(status, 1);
  });
