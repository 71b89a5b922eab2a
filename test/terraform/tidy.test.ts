import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Change, changed } from "./planned-crawl.ts";
import { type HclModule, readModule, TERRAFORM } from "./terraform-module.ts";
import {
  carelessVariables,
  differingVariables,
  ENVIRONMENTS,
  literalProjects,
  MODULES,
  misplacedFiles,
  openDoors,
  unjustified,
} from "./tidy.ts";

const FOLDERS = [...MODULES.map((name) => `modules/${name}`), ...ENVIRONMENTS.map((name) => `environments/${name}`)];
/** In an environment the name of the crawl is that of the instance, too, and the size one of a list. */
const DIFFERS = ["crawl", "fetches_per_day"];

const rules: Record<string, (module: HclModule) => string[]> = { carelessVariables, literalProjects, openDoors, unjustified };

test("there are these modules and environments, each with the same files", () => {
  assert.deepEqual(readdirSync(join(TERRAFORM, "modules")).sort(), [...MODULES]);
  assert.deepEqual(readdirSync(join(TERRAFORM, "environments")).sort(), [...ENVIRONMENTS, "sizes.json"]);
  assert.deepEqual(FOLDERS.flatMap(misplacedFiles), []);
});

test("variables are described, typed, validated and in order; nothing is open to the world; no project is named; exceptions have reasons", async () => {
  const modules = await Promise.all(FOLDERS.map((folder) => readModule(folder)));
  for (const [name, rule] of Object.entries(rules)) assert.deepEqual(modules.flatMap(rule), [], name);
  assert.deepEqual(differingVariables(modules, DIFFERS), []);
  const versions = modules.map(({ texts }) => /google = \{[^}]*\}/.exec(texts["versions.tf"]!)?.[0].replaceAll(/\s+/g, " "));
  assert.equal(new Set(versions).size, 1, "all take the same versions of the provider");
});

test("environments only wire: they make nothing themselves", async () => {
  for (const environment of ENVIRONMENTS) {
    const { resources, modules } = await readModule(`environments/${environment}`);
    assert.deepEqual(resources, {});
    assert.deepEqual(Object.keys(modules).sort(), [...MODULES]);
  }
});

const faults: [told: string, rule: keyof typeof rules, change: Change][] = [
  [
    "a variable that says nothing",
    "carelessVariables",
    { file: "modules/state/variables.tf", from: 'description = "The zone of', to: 'desc = "The zone of' },
  ],
  [
    "a variable of any type",
    "carelessVariables",
    { file: "modules/network/variables.tf", from: "type        = string", to: "type        = any" },
  ],
  [
    "a variable that takes everything",
    "carelessVariables",
    { file: "modules/registry/variables.tf", from: "validation {", to: "check {" },
  ],
  [
    "a variable out of order",
    "carelessVariables",
    { file: "modules/state/variables.tf", from: 'variable "zone"', to: 'variable "abc"' },
  ],
  [
    "a door for the whole world",
    "openDoors",
    { file: "modules/network/main.tf", from: "source_ranges = [var.range]", to: 'source_ranges = ["0.0.0.0/0"]' },
  ],
  [
    "a rule for all who have an account",
    "openDoors",
    { file: "modules/identity/main.tf", from: "member     = each.value", to: 'member     = "allAuthenticatedUsers"' },
  ],
  [
    "a role over everything",
    "openDoors",
    { file: "modules/identity/main.tf", from: '"roles/dataflow.worker"', to: '"roles/editor"' },
  ],
  [
    "an administrator",
    "openDoors",
    { file: "modules/identity/main.tf", from: '"roles/bigtable.user"', to: '"roles/bigtable.admin"' },
  ],
  ["a bucket that may become public", "openDoors", { file: "modules/objects/main.tf", from: '"enforced"', to: '"inherited"' }],
  [
    "a default of all addresses",
    "openDoors",
    { file: "modules/network/variables.tf", from: '"10.20.0.0/20"', to: '"0.0.0.0/0"' },
  ],
  [
    "a literal project",
    "literalProjects",
    { file: "modules/registry/main.tf", from: "project       = var.project", to: 'project       = "my-project"' },
  ],
  [
    "a literal project in a path",
    "literalProjects",
    { file: "modules/watch/main.tf", from: "projects/$", to: "projects/my-project/$" },
  ],
  [
    "an exception without a reason",
    "unjustified",
    {
      file: "modules/state/main.tf",
      from: "CKV_GCP_85:records hold what the public web says, and no secret; Google's own key encrypts them",
      to: "CKV_GCP_85",
    },
  ],
];

for (const [told, rule, change] of faults)
  test(`${told} is found`, async () => {
    const folder = change.file.slice(0, change.file.lastIndexOf("/"));
    assert.deepEqual(rules[rule]!(await readModule(folder)), []);
    assert.notDeepEqual(rules[rule]!(await readModule(folder, changed(change))), []);
  });
