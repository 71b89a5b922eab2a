// Is a deployment a plan that can be followed, carried out in its order, and stopped at its first failure?
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deploySteps, shown } from "../../../pipelines/deploy/steps.ts";
import { type EndedCommand, startNamed } from "../../lib/crawl-command.ts";
import { plannedCrawl } from "../../terraform/planned-crawl.ts";

const FLAGS = [
  "--project",
  "my-project",
  "--region",
  "europe-west1",
  "--tag",
  "7",
  "--seed",
  "https://example.org/",
  "--contact",
  "a@b.org",
];
const STEPS = ["build", "init", "resources", "set-up", "image", "push", "launcher-image", "launcher-push", "template", "job"];

test("the dry run shows each step with its command and what it changes, and needs none of the programs", async () => {
  const { code, stdout, stderr } = await startNamed("deploy", ["--env", "dev", ...FLAGS, "--size", "100m", "--dry-run"]).ended;
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(
    [...stdout.matchAll(/^\d+ (\S+): /gm)].map(([, name]) => name),
    STEPS,
  );
  assert.match(stdout, /nothing is done\n/);
  assert.match(stdout, / {2}terraform -chdir=terraform\/environments\/dev apply -input=false -var=fetches_per_day=100000000\n/);
  assert.match(
    stdout,
    /--engine dataflow --endpoint localhost:8099 --image \$\(terraform .* output -raw image\):7 --template /,
  );
  assert.match(
    stdout,
    /"-var=template=\$\(terraform \S+ output -raw template_location\)\/crawl-7" "-var=daily_image=\$\(terraform \S+ output -raw launcher_image\):7" "-var=daily_worker_image=\$\(terraform \S+ output -raw image\):7" -var=fetches_per_day=100000000\n/,
  );
});

test("what the last step gives Terraform are variables of the environments", () => {
  const deployment = { env: "prod" as const, project: "p", region: "r", tag: "1", seeds: [], contact: "c", engine: "docker" };
  const steps = deploySteps({ ...deployment, jobService: "j", size: 1_000_000 }, () => "x");
  const given = steps.at(-1)!.command.flatMap((word) => /^-var=(\w+)=/.exec(word)?.[1] ?? []);
  assert.equal(given.length, 4);
  const text = readFileSync(join(import.meta.dirname, "../../../terraform/environments/prod/variables.tf"), "utf8");
  assert.deepEqual(
    given.filter((name) => !text.includes(`variable "${name}"`)),
    [],
  );
});

test("the outputs that the steps ask for are those of the environments", async () => {
  const asked = new Set<string>();
  deploySteps(
    { env: "prod", project: "p", region: "r", tag: "1", seeds: [], contact: "c", engine: "docker", jobService: "j" },
    (name) => {
      asked.add(name);
      return "x";
    },
  );
  const text = readFileSync(join(import.meta.dirname, "../../../terraform/environments/prod/outputs.tf"), "utf8");
  const plan = await plannedCrawl();
  assert.ok(plan !== undefined);
  assert.deepEqual(
    [...asked].filter((name) => !text.includes(`output "${name}"`)),
    [],
  );
});

/** Programs that write down how they were called; `fails` is a word of a call that is to fail. */
function programs(context: TestContext, fails = "nothing of the kind") {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-deploy-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const calls = join(folder, "calls");
  for (const name of ["terraform", "gcloud", "docker", "npm"]) {
    const file = join(folder, name);
    const lines = [
      "#!/bin/sh",
      `[ "$1" = --version ] && exit 0`,
      `case "$*" in *"output -raw"*) for last; do :; done; printf '%s' "out-$last"; exit 0;; esac`,
      `echo "${name} $*" >>'${calls}'`,
      `case "$*" in *"${fails}"*) exit 3;; esac`,
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    chmodSync(file, 0o755);
  }
  return { folder, calls: () => (existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : []) };
}

async function deployed(path: string, ...more: string[]): Promise<EndedCommand> {
  const before = process.env.PATH;
  process.env.PATH = path;
  try {
    return await startNamed("deploy", ["--env", "dev", ...FLAGS, ...more]).ended;
  } finally {
    process.env.PATH = before;
  }
}

test("with the programs it does the steps in their order, each given what those before it have made", async (context) => {
  const { folder, calls } = programs(context);
  const { code, stdout } = await deployed(`${folder}:/bin:/usr/bin`, "--yes");
  assert.equal(code, 0, stdout);
  assert.deepEqual(
    calls().map((call) => call.split(" ").slice(0, 3).join(" ")),
    [
      "npm run build",
      "terraform -chdir=terraform/environments/dev init",
      "terraform -chdir=terraform/environments/dev apply",
      "npm run set-up",
      "docker build --tag",
      "docker push out-image:7",
      "docker build --target",
      "docker push out-launcher_image:7",
      "npm run crawl",
      "terraform -chdir=terraform/environments/dev apply",
    ],
  );
  assert.equal(calls()[6], "docker build --target launcher --tag out-launcher_image:7 .");
  assert.match(calls()[8]!, /--image out-image:7 --template out-template_location\/crawl-7 out-launch_flags$/);
  assert.match(
    calls()[9]!,
    /-var=template=out-template_location\/crawl-7 -var=daily_image=out-launcher_image:7 -var=daily_worker_image=out-image:7$/,
  );
});

test("it stops at the first failure, says how to go on, and goes on there", async (context) => {
  const { folder, calls } = programs(context, "push out-image");
  const { code, stdout } = await deployed(`${folder}:/bin:/usr/bin`, "--yes");
  assert.equal(code, 1);
  assert.match(stdout, /the step push failed; .* go on with --from push\n/);
  assert.equal(calls().length, 6);
  const again = programs(context);
  const rest = await deployed(`${again.folder}:/bin:/usr/bin`, "--yes", "--from", "push");
  assert.equal(rest.code, 0);
  assert.equal(again.calls().length, 5);
});

test("nothing is done where nobody says yes, or a program is missing", async (context) => {
  const { folder, calls } = programs(context);
  assert.equal((await deployed(`${folder}:/bin:/usr/bin`)).code, 130);
  assert.deepEqual(calls(), []);
  const { code, stderr } = await deployed("/nowhere", "--yes", "--container-engine", "podman");
  assert.equal(code, 2);
  assert.match(stderr, /terraform is missing: https:.*; gcloud is missing: https:.*; podman is missing: https:/);
});

const wrong: [flags: string[], told: RegExp][] = [
  [["--env", "test", ...FLAGS], /--env "test" is neither dev nor prod/],
  [["--env", "dev"], /--project "": 6 to 30 lower-case/],
  [["--env", "dev", ...FLAGS, "--size", "huge"], /--size "huge" is none of 1m, 100m, 1b/],
  [["--env", "dev", ...FLAGS, "--container-engine", "lxc"], /neither docker nor podman/],
  [["--env", "dev", ...FLAGS, "--dry-run", "--from", "end"], /--from "end" is none of build, init/],
  [["--env", "dev", ...FLAGS.slice(0, 6), "--contact", "a@b.org"], /--seed is needed/],
];
for (const [flags, told] of wrong)
  test(`deploy ${flags.slice(-2).join(" ")} is refused with what is allowed`, async () => {
    const { code, stderr } = await startNamed("deploy", flags).ended;
    assert.equal(code, 2);
    assert.match(stderr, told);
  });

test("commands are shown as a shell takes them", () => {
  assert.equal(shown(["a", "--b=c", "$(d e)", "f-$(g h)", "it's two"]), `a --b=c $(d e) "f-$(g h)" 'it'\\''s two'`);
});
