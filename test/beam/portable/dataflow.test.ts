import assert from "node:assert/strict";
import { test } from "node:test";
import { type DataflowSettings, dataflowOptions } from "../../../beam/portable/dataflow.ts";

const settings: DataflowSettings = {
  project: "project",
  region: "europe-west1",
  stagingLocation: "gs://bucket/staging",
  tempLocation: "gs://bucket/temp",
};

test("a job that nothing more is said of has no option that the service has a default for", () => {
  const given = Object.entries(dataflowOptions(settings)).filter(([, value]) => value !== undefined);
  assert.deepEqual(Object.fromEntries(given), {
    ...settings,
    labels: [],
    experiments: ["no_use_multiple_sdk_containers"],
    flags: [],
  });
});

test("numbers go as flags, since the job service fails at those of a Struct", () => {
  const { flags } = dataflowOptions({ ...settings, workers: 2, workersMax: 40 });
  assert.deepEqual(flags, ["--num_workers=2", "--max_num_workers=40"]);
});

test("an update and missing credentials are said only where they are wanted", () => {
  const { update, noAuth } = dataflowOptions({ ...settings, update: true, noAuth: true });
  assert.deepEqual([update, noAuth], [true, true]);
  const not = dataflowOptions({ ...settings, update: false, noAuth: false });
  assert.deepEqual([not.update, not.noAuth], [undefined, undefined]);
});
