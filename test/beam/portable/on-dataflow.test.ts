import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readDoFn } from "../../../beam/pardo.ts";
import { type DataflowSettings, dataflowOptions } from "../../../beam/portable/dataflow.ts";
import { withEnvironment } from "../../../beam/portable/environment.ts";
import { PUBSUB_READ_URN, withPubsubReads } from "../../../beam/portable/pubsub-reads.ts";
import { submit } from "../../../beam/portable/submit.ts";
import { type PipelineProto, runnerApi } from "../../../beam/sdk.ts";
import { systemClock } from "../../../io/clock.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { startDataflow } from "../../engines/dataflow.ts";
import { engineTests } from "../../engines/engine-tests.ts";
import type { JobServer } from "../../engines/job-server.ts";
import { keyedWord } from "../lib.ts";
import { smallJob } from "./small-job.ts";

const IMAGE = "region-docker.pkg.dev/project/gleaner/worker@sha256:0";
const SUBSCRIPTION = "projects/project/subscriptions/words";

interface Template {
  type: string;
  labels: Record<string, string>;
  environment: {
    experiments: string[];
    serviceAccountEmail: string;
    sdkPipelineOptions: { options: Record<string, unknown> };
    workerPools: {
      machineType: string;
      ipConfiguration: string;
      sdkHarnessContainerImages: {
        containerImage: string;
        useSingleCorePerContainer?: boolean;
        capabilities: string[];
      }[];
    }[];
  };
}

await engineTests(["dataflow"], async () => {
  await cloudTests({ storage: true }, (emulators) => {
    let server: JobServer;
    const folder = mkdtempSync(join(tmpdir(), "gleaner-dataflow-"));
    const storage = () => `http://${emulators().endpoint("storage")}/storage/v1/b`;
    before(async () => {
      server = await startDataflow({ storage: emulators().endpoint("storage") });
      const headers = { "content-type": "application/json" };
      await fetch(`${storage()}?project=project`, { method: "POST", headers, body: JSON.stringify({ name: "bucket" }) });
    });
    after(async () => {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const { proto } = smallJob(() => undefined);
    const reads = { Spell: { subscription: SUBSCRIPTION, decoder: { name: "unspell", outputs: { out: keyedWord } } } };
    const settings: DataflowSettings = {
      project: "project",
      region: "europe-west1",
      stagingLocation: "gs://bucket/staging",
      tempLocation: "gs://bucket/temp",
      serviceAccount: "worker@project.iam.gserviceaccount.com",
      publicIps: false,
      machineType: "n2-standard-2",
      labels: { crawl: "news" },
      noAuth: true,
    };
    const submitted = (given: DataflowSettings) =>
      submit({
        ...{ endpoint: server.endpoint, jobName: "small-job", clock: systemClock(), log: () => undefined },
        proto: withEnvironment(withPubsubReads(proto, reads), { kind: "docker", image: IMAGE }),
        options: { ...dataflowOptions(given), smallJob: "told" },
      });

    /** What the job service has put into the bucket. */
    async function stagedProto(options: Record<string, unknown>): Promise<PipelineProto> {
      const url = String(options.pipelineUrl);
      const name = url.slice("gs://bucket/".length);
      const answer = await fetch(`${storage()}/bucket/o/${encodeURIComponent(name)}?alt=media`);
      assert.equal(answer.status, 200, url);
      return runnerApi.Pipeline.fromBinary(await answer.bytes());
    }

    test("a template is written with streaming engine, our image on all cores, our account and labels", async () => {
      const template = join(folder, "job.json");
      const job = await submitted({ ...settings, template });
      assert.deepEqual(await job.ended, { kind: "ended", state: "done", why: [] });
      job.leave();
      const { type, labels, environment } = JSON.parse(readFileSync(template, "utf8")) as Template;
      assert.equal(type, "JOB_TYPE_STREAMING");
      assert.deepEqual(labels, { crawl: "news" });
      for (const experiment of ["use_runner_v2", "enable_streaming_engine", "use_portable_job_submission"])
        assert.ok(environment.experiments.includes(experiment), experiment);
      assert.ok(!environment.experiments.includes("use_multiple_sdk_containers"));
      assert.equal(environment.serviceAccountEmail, settings.serviceAccount);
      const [pool] = environment.workerPools;
      assert.deepEqual([pool?.machineType, pool?.ipConfiguration], ["n2-standard-2", "WORKER_IP_PRIVATE"]);
      const [image, ...others] = pool?.sdkHarnessContainerImages ?? [];
      assert.deepEqual(others, []);
      assert.equal(image?.containerImage, IMAGE);
      assert.notEqual(image?.useSingleCorePerContainer, true);
      assert.ok(image?.capabilities.includes("beam:protocol:state_caching:v1"));
    });

    test("the staged pipeline reads Pub/Sub natively, and keeps state, timers and requirements", async () => {
      const template = join(folder, "staged.json");
      const job = await submitted({ ...settings, template });
      await job.ended;
      job.leave();
      const { environment } = JSON.parse(readFileSync(template, "utf8")) as Template;
      assert.equal(environment.sdkPipelineOptions.options.small_job, "told", "workers are told of the job's own options");
      const staged = await stagedProto(environment.sdkPipelineOptions.options);
      const transforms = Object.values(staged.components!.transforms);
      const read = transforms.find(({ spec }) => spec?.urn === PUBSUB_READ_URN);
      assert.equal(runnerApi.PubSubReadPayload.fromBinary(read!.spec!.payload).subscription, SUBSCRIPTION);
      assert.equal(read?.environmentId, "");
      const payload = (label: string) =>
        runnerApi.ParDoPayload.fromBinary(transforms.find(({ uniqueName }) => uniqueName === label)!.spec!.payload);
      assert.deepEqual(readDoFn(payload("Spell")), { name: "unspell", form: "each", config: {} });
      assert.deepEqual(Object.keys(payload("Count").stateSpecs), ["memo"]);
      assert.deepEqual(Object.keys(payload("Count").timerFamilySpecs).sort(), ["bell", "horn"]);
      assert.deepEqual([...staged.requirements].sort(), [
        "beam:requirement:pardo:finalization:v1",
        "beam:requirement:pardo:stateful:v1",
      ]);
      assert.equal(Object.keys(staged.components!.environments).length, 1);
    });

    test("a setting that the service refuses fails the job with its words, and no template stands", async () => {
      const template = join(folder, "refused.json");
      const job = await submitted({ ...settings, tempLocation: "", template });
      const end = await job.ended;
      job.leave();
      assert.equal(end.kind === "ended" && end.state, "failed");
      assert.match(end.kind === "ended" ? end.why.join("\n") : "", /temp_location/);
      assert.equal(existsSync(template), false);
    });
  });
});
