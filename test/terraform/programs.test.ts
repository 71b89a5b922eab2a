// What do Terraform's own formatter and checkov, a policy check, say of the files? Skipped with the reason where they are not on the machine.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { onPath } from "../engines/machine.ts";
import { TERRAFORM } from "./terraform-module.ts";

const terraform = onPath("terraform");
/** .ci/run installs it. */
const checkov = process.env.CHECKOV;
/** It loads for a second or two; the machine may have other work. */
const CHECKOV_MS_MAX = 5 * 60_000;

test("every file is formatted as terraform fmt does it", {
  skip: terraform === undefined && "no terraform on this machine",
}, () => {
  const { status, stdout } = spawnSync(terraform!, ["fmt", "-check", "-recursive", "-diff", TERRAFORM], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

test("checkov finds nothing but what is justified in place", {
  skip: !checkov && "CHECKOV does not name the program checkov",
}, () => {
  const given = ["--directory", TERRAFORM, "--framework", "terraform", "--quiet", "--compact", "--skip-download"];
  const { status, stdout, stderr } = spawnSync(checkov!, given, { encoding: "utf8", timeout: CHECKOV_MS_MAX });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /Passed checks: [1-9]\d*, Failed checks: 0/);
});
