// Do the commands take the flags that Terraform prints for them, and does the README tell of flags, outputs and services that there are?
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { dailyFlags, readDailyOptions } from "../../pipelines/daily/daily-options.ts";
import { engineFlags, enginePlace } from "../../pipelines/engines/engine-place.ts";
import { cloudFlags, cloudPlace } from "../../pipelines/stores/cloud-place.ts";
import { block, CRAWL, only, plannedCrawl } from "./planned-crawl.ts";
import { readModule, TERRAFORM } from "./terraform-module.ts";

const SET_UP = { location: { type: "string" }, dataset: { type: "string" } } as const satisfies ParseArgsOptionsConfig;

test("the flags of the stores name the place where the Terraform made them", async () => {
  const { command_flags: flags, set_up_flags: more } = (await plannedCrawl()).outputs as Record<string, string>;
  const { values } = parseArgs({ args: flags!.split(" "), options: cloudFlags, strict: true });
  const { project, crawl } = CRAWL;
  assert.deepEqual(cloudPlace(values), { project, crawl, instance: crawl, bucket: `${project}-${crawl}`, appProfile: "crawl" });
  const setUp = parseArgs({ args: more!.split(" "), options: SET_UP, strict: true }).values;
  assert.deepEqual({ ...setUp }, { location: CRAWL.region, dataset: CRAWL.dataset });
});

test("the flags of the launch are ones that --engine dataflow takes", async () => {
  const { launch_flags: flags, image } = (await plannedCrawl()).outputs as Record<string, string>;
  // Google gives the account its address; a plan only names it.
  const args = flags!
    .replace(/--service-account \S+/, "--service-account worker@some-project.iam.gserviceaccount.com")
    .split(" ");
  const given = ["--engine", "dataflow", "--endpoint", "localhost:8099", "--image", `${image}:1`];
  const { values } = parseArgs({ args: [...given, ...args], options: engineFlags, strict: true });
  const place = enginePlace(values, { name: `crawl-${CRAWL.crawl}`, inCloud: true });
  assert.equal(place?.jobName, `crawl-${CRAWL.crawl}-1`);
  const { workersMax, publicIps, subnetwork } = (place as { dataflow?: Record<string, unknown> }).dataflow ?? {};
  assert.deepEqual(
    [workersMax, publicIps, subnetwork],
    [24, false, `regions/${CRAWL.region}/subnetworks/${CRAWL.crawl}-workers`],
  );
});

for (const engine of ["dataflow", "embedded"] as const)
  test(`the daily job's arguments are ones that npm run daily takes, of the same place, for the engine ${engine}`, async () => {
    const plan = await plannedCrawl({ given: { daily_engine: engine } });
    const [task] = block(only(plan, "google_cloud_run_v2_job"), "template").template as { containers: { args: string[] }[] }[];
    const [command, ...args] = task!.containers[0]!.args;
    assert.equal(command, "daily");
    // As above; and the launcher's image has its own job service.
    const told = args.map((arg) =>
      arg.replace(/^module\.identity\..*\["keeper"\]\.email$/, "keeper@some-project.iam.gserviceaccount.com"),
    );
    const endpoint = engine === "dataflow" ? ["--endpoint", "127.0.0.1:8099"] : [];
    const { values } = parseArgs({ args: [...told, ...endpoint], options: dailyFlags, strict: true });
    const { stores, place } = readDailyOptions(values, Date.UTC(2026, 10, 30));
    const { project, crawl } = CRAWL;
    const cloud = { project, crawl, instance: crawl, bucket: `${project}-${crawl}`, appProfile: "crawl" };
    assert.deepEqual(stores, { cloud });
    if (engine === "embedded") return void assert.equal(place, undefined);
    const { image, serviceAccount, publicIps, workersMax } = (place as { dataflow?: Record<string, unknown> }).dataflow ?? {};
    assert.deepEqual(
      [image, serviceAccount, publicIps, workersMax],
      [
        "europe-west1-docker.pkg.dev/some-project/some-crawl/worker:1",
        "keeper@some-project.iam.gserviceaccount.com",
        false,
        24,
      ],
    );
  });

test("the README names outputs and services that there are, and every service that is used", async () => {
  const readme = readFileSync(join(TERRAFORM, "README.md"), "utf8");
  const { outputs } = await readModule("environments/prod");
  const asked = [...readme.matchAll(/\boutput -(?:raw|json) (\w+)/g)].map(([, name]) => name!);
  assert.ok(asked.length > 0);
  for (const name of asked) assert.ok(name in outputs, `there is no output ${name}`);
  const texts = globSync("modules/*/main.tf", { cwd: TERRAFORM })
    .map((path) => readFileSync(join(TERRAFORM, path), "utf8"))
    .join("\n");
  const types = new Set([...texts.matchAll(/^resource "google_([a-z]+)_/gm)].map(([, service]) => service!));
  const enabled = new Set([...readme.matchAll(/\b([a-z]+)\.googleapis\.com\b/g)].map(([, service]) => service!));
  for (const type of types)
    assert.ok(
      servicesOf(type).every((service) => enabled.has(service)),
      `${type} needs ${servicesOf(type)}`,
    );
});

/** The services that must be enabled for resources of google_TYPE_…. */
function servicesOf(type: string): string[] {
  const services: Record<string, string[]> = {
    artifact: ["artifactregistry"],
    bigquery: ["bigquery", "bigquerydatatransfer"],
    bigtable: ["bigtable", "bigtableadmin"],
    billing: ["billingbudgets"],
    cloud: ["cloudscheduler", "run"],
    project: ["cloudresourcemanager"],
    service: ["iam"],
  };
  return services[type] ?? [type];
}
