import assert from "node:assert/strict";
import { test } from "node:test";
import { flinkOptions, pipelineOptions, readPipelineOptions } from "../../../beam/portable/options.ts";
import { structApi } from "../../../beam/portable/sdk.ts";

const json = (options: Parameters<typeof pipelineOptions>[0]) => structApi.Struct.toJson(pipelineOptions(options));

test("options get the names that runners look for", () => {
  assert.deepEqual(json({ streaming: true, maxBundleTimeMills: 50, experiments: ["a"], transformNameMapping: { a: "b" } }), {
    "beam:option:streaming:v1": true,
    "beam:option:max_bundle_time_mills:v1": 50,
    "beam:option:experiments:v1": ["a"],
    "beam:option:transform_name_mapping:v1": { a: "b" },
  });
});

test("an option that is undefined is left out", () => assert.deepEqual(json({ region: undefined }), {}));

for (const name of ["", "Streaming", "job_name", "job-name", "1st"])
  test(`${JSON.stringify(name)} is no name of an option`, () => assert.throws(() => json({ [name]: 1 }), /named in camelCase/));

test("a worker reads the options by the same names, and others as they are", () => {
  const given = { jobName: "crawl", noAuth: true, experiments: ["a", "b"] };
  assert.deepEqual(readPipelineOptions(pipelineOptions(given)), given);
  assert.deepEqual(readPipelineOptions(structApi.Struct.fromJson({ "python:option": 1 })), { "python:option": 1 });
  assert.deepEqual(readPipelineOptions(undefined), {});
  const ofDataflow = structApi.Struct.fromJson({ options: { job_name: "crawl", no_auth: true }, display_data: [] });
  assert.deepEqual(readPipelineOptions(ofDataflow), { jobName: "crawl", noAuth: true });
});

test("Flink finishes bundles before it takes a checkpoint, and long before the next one", () => {
  const options = flinkOptions();
  assert.equal(options.finishBundleBeforeCheckpointing, true);
  assert.ok(Number(options.maxBundleTimeMills) * 10 <= Number(options.checkpointingInterval));
  assert.equal("parallelism" in options, false);
  assert.equal(flinkOptions({ parallelism: 2 }).parallelism, 2);
});
