import assert from "node:assert/strict";
import { test } from "node:test";
import { cloudPlace } from "../../../pipelines/stores/cloud-place.ts";
import { UsageError } from "../../../pipelines/usage-error.ts";

test("a project is enough: the other names follow from it and from the crawl's", () => {
  assert.deepEqual(cloudPlace({ project: "my-project" }), {
    project: "my-project",
    instance: "gleaner",
    bucket: "my-project-gleaner",
    crawl: "gleaner",
  });
  assert.equal(cloudPlace({ project: "my-project", crawl: "news" })?.bucket, "my-project-news");
  assert.equal(cloudPlace({ project: "my-project", "app-profile": "one_cluster" })?.appProfile, "one_cluster");
});

test("without any flag of the cloud there is no place", () => {
  assert.equal(cloudPlace({}), undefined);
});

const wrong: [situation: string, values: Parameters<typeof cloudPlace>[0], told: RegExp][] = [
  ["no project", { bucket: "pages" }, /--bucket .* need --project/],
  ["a project in capitals", { project: "My-Project" }, /--project "My-Project": 6 to 30/],
  ["an empty project", { project: "" }, /--project "": 6 to 30/],
  ["an instance that is a path", { project: "my-project", instance: "projects/x/instances/y" }, /--instance/],
  ["a bucket with its scheme", { project: "my-project", bucket: "gs://pages" }, /--bucket "gs:\/\/pages": 3 to 63/],
  ["a crawl's name that topics refuse", { project: "my-project", crawl: "google-news" }, /--crawl "google-news"/],
  ["a crawl's name that is too long", { project: "my-project", crawl: "c".repeat(31) }, /--crawl/],
];
for (const [situation, values, told] of wrong)
  test(`${situation} is told with the flag and what is allowed`, () => {
    assert.throws(
      () => cloudPlace(values),
      (error) => error instanceof UsageError && told.test(error.message),
    );
  });
