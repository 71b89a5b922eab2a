import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { type Verdict, verdictOn } from "./cloud-tests.ts";

const verdicts: [missing: string | undefined, ci: string | undefined, kind: Verdict["kind"]][] = [
  [undefined, undefined, "run"],
  [undefined, "true", "run"],
  ["none", undefined, "skip"],
  ["none", "", "skip"],
  ["none", "false", "skip"],
  ["none", "0", "skip"],
  ["none", "true", "fail"],
  ["none", "1", "fail"],
];
for (const [missing, ci, kind] of verdicts)
  test(`with ${missing ?? "nothing"} missing and CI ${ci === undefined ? "unset" : `"${ci}"`} the verdict is to ${kind}`, () => {
    assert.equal(verdictOn(missing, ci).kind, kind);
  });

/** A test file on a machine that has nothing. */
const FILE = `
  import { test } from "node:test";
  import { cloudTests } from ${JSON.stringify(join(import.meta.dirname, "cloud-tests.ts"))};
  const machine = { path: [], sdkRoots: [], cache: "/nowhere" };
  await cloudTests({ storage: true }, () => test("never run", () => {}), machine);
`;

for (const [ci, code, told] of [
  ["", 0, /^ok 1 - on the emulators of storage # SKIP no emulator of storage: the Cloud SDK has none, and no Go/m],
  ["true", 1, /^not ok 1 - on the emulators of storage$.*no emulator of storage.*In CI/ms],
] as const)
  test(`where the emulators are missing a test file ${code === 0 ? "skips outside" : "fails in"} CI and says why`, () => {
    // Node would answer its parent's runner in that one's own format.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ["--input-type=module-typescript", "--test-reporter=tap", "-e", FILE];
    const ended = spawnSync(process.execPath, args, { encoding: "utf8", env: { ...env, CI: ci } });
    assert.equal(ended.status, code, ended.stderr);
    assert.match(ended.stdout, told);
    assert.doesNotMatch(ended.stdout, /never run/);
  });
