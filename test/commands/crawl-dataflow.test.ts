// Does `npm run crawl -- --engine dataflow --template` write down the job that Dataflow is to run? Beam's job service makes it, emulators keep it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type AnyDefinition, readDoFn } from "../../beam/pardo.ts";
import { harnessCapabilities } from "../../beam/portable/environment.ts";
import { readPipelineOptions } from "../../beam/portable/options.ts";
import { PUBSUB_READ_URN } from "../../beam/portable/pubsub-reads.ts";
import { structApi } from "../../beam/portable/sdk.ts";
import { dofnRegistry } from "../../beam/registry.ts";
import { type PipelineProto, runnerApi } from "../../beam/sdk.ts";
import { readWorkerSettings } from "../../pipelines/container/worker-settings.ts";
import { crawlDefinitions } from "../../pipelines/crawl.ts";
import { queueDecoders } from "../../transforms/read-queues.ts";
import { cloudTests } from "../emulators/cloud-tests.ts";
import { startDataflow } from "../engines/dataflow.ts";
import { engineTests } from "../engines/engine-tests.ts";
import type { JobServer } from "../engines/job-server.ts";
import { type CloudCrawl, PROJECT, setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";
import { runCommand } from "../lib/crawl-command.ts";
import { parDos, stored, type Template } from "../lib/dataflow-template.ts";

const IMAGE = "europe-docker.pkg.dev/test-project/gleaner/worker:7";
const ACCOUNT = "worker@test-project.iam.gserviceaccount.com";
/** What a launching shell may hold, and nobody else is to see. */
const PLANTED = { AWS_SECRET_ACCESS_KEY: "planted/aws+key0123456789", NPM_TOKEN: "planted-npm-token-0123456789" };

await engineTests(["dataflow"], async () => {
  await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
    const folder = mkdtempSync(join(tmpdir(), "gleaner-template-"));
    const file = join(folder, "job.json");
    let undo: () => void;
    let server: JobServer;
    let cloud: CloudCrawl;
    let flags: string[];
    let said: string;
    let text: string;
    let template: Template;
    let bytes: Uint8Array;
    let staged: PipelineProto;

    before(async () => {
      undo = withEnvironment({ ...emulators().env, ...PLANTED });
      server = await startDataflow({ storage: emulators().endpoint("storage") });
      cloud = await setUpCrawl();
      const seed = ["http://small.test/", "--contact", "owner@example.org", "--fetchers", "64"];
      const job = ["--engine", "dataflow", "--endpoint", server.endpoint, "--image", IMAGE, "--region", "europe-west1"];
      const workers = [
        "--workers",
        "2",
        "--max-workers",
        "40",
        "--machine-type",
        "n2-standard-4",
        "--service-account",
        ACCOUNT,
      ];
      const network = ["--public-ips", "false", "--subnetwork", "regions/europe-west1/subnetworks/crawl"];
      flags = [...seed, ...cloud.flags, ...job, ...workers, ...network];
      const { code, stdout, stderr } = await runCommand([...flags, "--template", file]);
      assert.equal(code, 0, stderr);
      said = stdout;
      text = readFileSync(file, "utf8");
      template = JSON.parse(text) as Template;
      bytes = await stored(emulators(), template.environment.sdkPipelineOptions.options.pipelineUrl);
      staged = runnerApi.Pipeline.fromBinary(bytes);
    });
    after(async () => {
      undo?.();
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    test("it says where the template and the staged pipeline are", () => {
      const { pipelineUrl } = template.environment.sdkPipelineOptions.options;
      assert.equal(said, `template ${file}\npipeline ${pipelineUrl}\n`);
      assert.match(pipelineUrl, new RegExp(`^gs://${PROJECT}-${cloud.crawl}/dataflow/staging/crawl-${cloud.crawl}\\.`));
    });

    test("the job is a streaming one on streaming engine, with the name, labels and places of the crawl", () => {
      const { name, type, labels, environment } = template;
      assert.deepEqual([name, type], [`crawl-${cloud.crawl}`, "JOB_TYPE_STREAMING"]);
      assert.deepEqual(labels, { crawl: cloud.crawl });
      const wanted = ["use_runner_v2", "enable_streaming_engine", "enable_windmill_service", "use_portable_job_submission"];
      assert.deepEqual(
        wanted.filter((experiment) => !environment.experiments.includes(experiment)),
        [],
      );
      assert.ok(!environment.experiments.includes("use_multiple_sdk_containers"));
      assert.match(environment.tempStoragePrefix, new RegExp(`/${PROJECT}-${cloud.crawl}/dataflow/temp/`));
    });

    test("workers are as many, as large and as private as the flags say, of one image that uses all cores", () => {
      const { serviceAccountEmail, workerPools } = template.environment;
      assert.equal(serviceAccountEmail, ACCOUNT);
      assert.equal(workerPools.length, 1);
      const [pool] = workerPools;
      assert.deepEqual([pool?.numWorkers, pool?.autoscalingSettings.maxNumWorkers], [2, 40]);
      assert.deepEqual([pool?.machineType, pool?.ipConfiguration], ["n2-standard-4", "WORKER_IP_PRIVATE"]);
      assert.equal(pool?.subnetwork, "regions/europe-west1/subnetworks/crawl");
      assert.equal(pool?.workerHarnessContainerImage, IMAGE);
      const images = pool?.sdkHarnessContainerImages ?? [];
      assert.deepEqual(
        images.map(({ containerImage, useSingleCorePerContainer = false }) => [containerImage, useSingleCorePerContainer]),
        [[IMAGE, false]],
      );
      assert.deepEqual(images[0]?.capabilities, harnessCapabilities);
      for (const capability of ["multi_core_bundle_processing", "state_caching"])
        assert.ok(images[0]?.capabilities.includes(`beam:protocol:${capability}:v1`), capability);
    });

    test("a worker finds in the job's options what it needs before it can read the stores", () => {
      const told = readPipelineOptions(structApi.Struct.fromJson(template.environment.sdkPipelineOptions as never));
      const settings = readWorkerSettings(told);
      assert.ok(settings.job === "crawl");
      const { cloud: place, epoch, fetchers, contact } = settings;
      const { crawl } = cloud;
      assert.deepEqual(place, { project: PROJECT, instance: "gleaner", bucket: `${PROJECT}-${crawl}`, crawl });
      assert.deepEqual([epoch, fetchers, contact], [1, 64, "owner@example.org"]);
    });

    test("the three queues are read by the runner from their subscriptions, and nothing in the graph is splittable", () => {
      const reads = Object.values(staged.components!.transforms).filter(({ spec }) => spec?.urn === PUBSUB_READ_URN);
      const read = reads.map(({ uniqueName, environmentId, spec }) => {
        const { subscription } = runnerApi.PubSubReadPayload.fromBinary(spec!.payload);
        return [uniqueName, environmentId, subscription];
      });
      const named = (name: string) => `projects/${PROJECT}/subscriptions/${cloud.crawl}-${name}`;
      assert.deepEqual(read.sort(), [
        ["ReadDiscover.Pubsub", "", named("discover")],
        ["ReadHost.Pubsub", "", named("host")],
        ["ReadReparse.Pubsub", "", named("reparse")],
      ]);
      const prefix = "beam:requirement:pardo:";
      assert.deepEqual([...staged.requirements].sort(), [`${prefix}finalization:v1`, `${prefix}stateful:v1`]);
      assert.deepEqual(
        [...parDos(staged)].filter(([, { restrictionCoderId }]) => restrictionCoderId !== "").map(([label]) => label),
        [],
      );
    });

    test("each DoFn stands under its label in our image, and a worker knows it", () => {
      const registry = dofnRegistry<AnyDefinition>([...crawlDefinitions, ...queueDecoders]);
      const doFns = [...parDos(staged)].map(([label, payload]) => [label, readDoFn(payload)!] as const);
      for (const [, carried] of doFns) assert.equal(registry.find(carried).name, carried.name);
      assert.deepEqual(doFns.map(([label, { name, form }]) => `${label}: ${name}, ${form}`).sort(), [
        "Discover: Discover, each",
        "Fetch: Fetch, each",
        "HostFrontier: HostFrontier, keyed",
        "ReadDiscover: DecodeDiscover, each",
        "ReadHost: DecodeHost, each",
        "ReadReparse: DecodeReparse, each",
        "Reparse: Reparse, each",
        "Sweep: Sweep, each",
      ]);
      const environments = Object.values(staged.components!.environments);
      assert.deepEqual(
        environments.map(({ urn, payload }) => [urn, runnerApi.DockerPayload.fromBinary(payload).containerImage]),
        [["beam:env:docker:v1", IMAGE]],
      );
    });

    test("HostFrontier keeps its state as a bag, and its turn as a timer of processing time", () => {
      const { stateSpecs, timerFamilySpecs } = parDos(staged).get("HostFrontier")!;
      assert.deepEqual(
        Object.entries(stateSpecs).map(([name, { spec, protocol }]) => [name, spec.oneofKind, protocol?.urn]),
        [["frontier", "bagSpec", "beam:user_state:bag:v1"]],
      );
      assert.deepEqual(
        Object.entries(timerFamilySpecs).map(([name, { timeDomain }]) => [name, timeDomain]),
        [["turn", runnerApi.TimeDomain_Enum.PROCESSING_TIME]],
      );
    });

    test("no secret stands in either, nor what the launcher's environment holds", () => {
      const both = `${text}\n${Buffer.from(bytes).toString("latin1")}`;
      assert.deepEqual(secretsIn(both, process.env, folder), []);
      const { options } = template.environment.sdkPipelineOptions;
      assert.deepEqual(
        Object.keys(options).filter((name) => SECRET_NAME.test(name)),
        [],
      );
    });

    test("a template in the bucket is written, read back and told as well", async () => {
      const object = `gs://${PROJECT}-${cloud.crawl}/templates/job.json`;
      const { code, stdout, stderr } = await runCommand([...flags, "--template", object]);
      assert.equal(code, 0, stderr);
      const { type, environment } = JSON.parse(String(Buffer.from(await stored(emulators(), object)))) as Template;
      assert.equal(type, "JOB_TYPE_STREAMING");
      assert.equal(stdout, `template ${object}\npipeline ${environment.sdkPipelineOptions.options.pipelineUrl}\n`);
    });

    test("beside an emulator of Cloud Storage no job is submitted", async () => {
      const { code, stderr } = await runCommand(flags);
      assert.equal(code, 2);
      assert.match(stderr, /--engine dataflow needs --template: Dataflow cannot read the emulator/);
    });
  });
});

test("secrets that are planted in a text are found", () => {
  const found = (planted: string) => secretsIn(`{"a": "${planted}"}`, PLANTED, "").length;
  const key = ["-----BEGIN PRIVATE", "KEY-----"].join(" ");
  for (const planted of [PLANTED.NPM_TOKEN, PLANTED.AWS_SECRET_ACCESS_KEY, key, "Bearer abc", `ya29.${"x".repeat(30)}`])
    assert.equal(found(planted), 1, planted);
  assert.equal(found("nothing of the kind"), 0);
  assert.deepEqual(
    ["private_key", "npmToken", "aws_secret", "password", "credentials", "api_key"].filter((name) => !SECRET_NAME.test(name)),
    [],
  );
});

const SECRET_NAME = /token|secret|credential|passw|private_?key|api_?key/i;
const SECRETS = [
  /BEGIN [A-Z ]*PRIVATE KEY/,
  /\bBearer /,
  /\bya29\.[\w-]{20}/,
  /\bAIza[\w-]{30}/,
  /"?(private_key|refresh_token)"?\s*:/,
];
/** Shorter values stand everywhere: "true", a region, a project. */
const VALUE_CHARS_MIN = 16;

/** What of `text` looks like a secret, or is the value of a variable; where the template was asked for may be said. */
function secretsIn(text: string, env: Readonly<Record<string, string | undefined>>, asked: string): string[] {
  const values = Object.entries(env).filter(([, value = ""]) => value.length >= VALUE_CHARS_MIN && !asked.startsWith(value));
  return [
    ...SECRETS.filter((secret) => secret.test(text)).map(String),
    ...values.filter(([, value]) => text.includes(value!)).map(([name]) => name),
  ];
}
