// Does `npm run daily -- --engine dataflow --template` write down a batch job for each phase, which a worker of our image can carry out?
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { readDoFn } from "../../beam/pardo.ts";
import { readPipelineOptions } from "../../beam/portable/options.ts";
import { structApi } from "../../beam/portable/sdk.ts";
import { runnerApi } from "../../beam/sdk.ts";
import { readWorkerSettings } from "../../pipelines/container/worker-settings.ts";
import { dailyPhases, dailyRegistry } from "../../pipelines/daily.ts";
import { cloudTests } from "../emulators/cloud-tests.ts";
import { prepareDataflow, startDataflow } from "../engines/dataflow.ts";
import { engineTests } from "../engines/engine-tests.ts";
import type { JobServer } from "../engines/job-server.ts";
import { type CloudCrawl, PROJECT, setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";
import { startNamed } from "../lib/crawl-command.ts";
import { copyToCloud, crawlOfYesterday, YESTERDAY } from "../lib/daily-crawl.ts";
import { parDos, stored, type Template } from "../lib/dataflow-template.ts";

const LAUNCHER = join(import.meta.dirname, "../../pipelines/container/launcher.ts");
const IMAGE = "europe-docker.pkg.dev/test-project/gleaner/worker:7";

await engineTests(["dataflow"], async () => {
  await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
    const folder = mkdtempSync(join(tmpdir(), "gleaner-templates-"));
    let undo: () => void;
    let server: JobServer;
    let cloud: CloudCrawl;
    let flags: string[];

    before(async () => {
      undo = withEnvironment(emulators().env);
      server = await startDataflow({ storage: emulators().endpoint("storage") });
      cloud = await setUpCrawl();
      const crawl = await crawlOfYesterday();
      await copyToCloud(crawl.folder, cloud).finally(crawl.clear);
      const job = ["--engine", "dataflow", "--endpoint", server.endpoint, "--image", IMAGE, "--region", "europe-west1"];
      flags = ["--date", YESTERDAY, ...cloud.flags, ...job, "--max-workers", "40"];
    });
    after(async () => {
      undo?.();
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    test("each phase is a batch job of its own, in our image, that knows the stores and whose DoFns a worker knows", async () => {
      const { code, stdout, stderr } = await startNamed("daily", [...flags, "--template", folder]).ended;
      assert.equal(code, 0, stderr);
      assert.equal(stdout, dailyPhases.map(({ name }) => `${name}: template ${join(folder, name)}.json\n`).join(""));
      assert.equal(readdirSync(folder).length, dailyPhases.length);
      const registry = dailyRegistry();
      for (const { name, definitions } of dailyPhases) {
        const template = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Template;
        assert.deepEqual([template.name, template.type], [`daily-${cloud.crawl}-${YESTERDAY}-${name}`, "JOB_TYPE_BATCH"]);
        const { sdkPipelineOptions, workerPools } = template.environment;
        assert.equal(workerPools[0]?.autoscalingSettings.maxNumWorkers, 40);
        const settings = readWorkerSettings(readPipelineOptions(structApi.Struct.fromJson(sdkPipelineOptions as never)));
        const { crawl } = cloud;
        const place = { project: PROJECT, instance: "gleaner", bucket: `${PROJECT}-${crawl}`, crawl };
        assert.deepEqual(settings, { job: "daily", cloud: place });
        const staged = runnerApi.Pipeline.fromBinary(await stored(emulators(), sdkPipelineOptions.options.pipelineUrl));
        const steps = [...parDos(staged)].map(([, payload]) => readDoFn(payload)!);
        for (const carried of steps) assert.equal(registry.find(carried).name, carried.name);
        const expected = definitions.map((definition) => definition.name);
        assert.deepEqual([...new Set(steps.map((carried) => carried.name))].sort(), [...new Set(expected)].sort());
        const images = Object.values(staged.components!.environments).map(
          ({ payload }) => runnerApi.DockerPayload.fromBinary(payload).containerImage,
        );
        assert.deepEqual(images, [IMAGE]);
      }
    });

    test("the launcher starts the job service for as long as the command runs, and ends as the command does", async () => {
      const folder = mkdtempSync(join(tmpdir(), "gleaner-launched-"));
      const { python } = await prepareDataflow();
      const env = { ...process.env, GLEANER_JOB_SERVICE: `${python} -m apache_beam.runners.dataflow.dataflow_job_service` };
      const launched = (args: readonly string[]) => {
        const child = spawn(process.execPath, [LAUNCHER, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
        return Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      };
      const own = flags.filter((_, at) => flags[at] !== "--endpoint" && flags[at - 1] !== "--endpoint");
      const [stdout, stderr, [code]] = await launched(["daily", ...own, "--template", folder]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^repair: template /);
      assert.equal(readdirSync(folder).length, dailyPhases.length);
      rmSync(folder, { recursive: true });
      const [, refused, [badUsage]] = await launched(["daily", ...own, "--template", folder]);
      assert.deepEqual([badUsage, /there is no folder/.test(refused)], [2, true], refused);
      const [, unknown, [wrongName]] = await launched(["crawl"]);
      assert.deepEqual([wrongName, /none of daily, compact, set-up: "crawl"/.test(unknown)], [2, true], unknown);
    });

    const wrong: [flags: string[], told: RegExp][] = [
      [[], /--engine dataflow needs --template: Dataflow cannot read the emulator/],
      [["--template", join(folder, "none")], /there is no folder/],
      [["--template", folder, "--dry-run"], /--dry-run needs its workers in this process/],
    ];
    for (const [more, told] of wrong)
      test(`${more.map((flag) => flag.replace(folder, "FOLDER")).join(" ") || "a job beside an emulator"} is refused`, async () => {
        const { code, stderr } = await startNamed("daily", [...flags, ...more]).ended;
        assert.equal(code, 2, stderr);
        assert.match(stderr, told);
      });
  });
});
