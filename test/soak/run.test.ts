// Does npm run soak end by itself, with its table and the code that says that all holds?
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const COMMAND = join(import.meta.dirname, "run.ts");

test("a soak of some seconds ends by itself, tells what the web saw, holds, and leaves nothing behind", async (context) => {
  const scratch = await mkdtemp(join(tmpdir(), "gleaner-soak-test-"));
  context.after(() => rm(scratch, { recursive: true, force: true }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, "--minutes", "0.05", "--hosts", "1"], {
    encoding: "utf8",
    timeout: 100_000,
    env: { ...process.env, TMPDIR: scratch },
  });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  assert.match(stdout, /^\| what +\| figure \|\n/);
  assert.match(stdout, /\| requests that the web saw +\| [1-9]/);
  assert.match(stdout, /\| violations of politeness +\| 0 \|/);
  assert.match(stdout, /\| exit code +\| 130 \|/);
  assert.match(stdout, /\nAll holds, as far as so short a time tells\.\n$/);
  assert.doesNotMatch(stdout, /NaN/);
  assert.deepEqual(readdirSync(scratch), []);
});

test("--help tells the flags; a flag that makes no sense is told in a line, and nothing starts", () => {
  const rows: [args: string[], code: number, stdout: RegExp, stderr: RegExp][] = [
    [["--help"], 0, /--minutes N[\s\S]*--hosts N/, /^$/],
    [["--minutes", "0"], 2, /^$/, /^soak: --minutes is a number up to 1440\n$/],
    [["--hosts", "1.5"], 2, /^$/, /^soak: --hosts is/],
    [["--fast"], 2, /^$/, /^soak: [^\n]*--fast[^\n]*\n$/],
  ];
  for (const [args, code, out, errors] of rows) {
    const told = spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", timeout: 20_000 });
    assert.equal(told.status, code, args.join(" "));
    assert.match(told.stdout, out);
    assert.match(told.stderr, errors);
  }
});
