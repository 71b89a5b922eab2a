import assert from "node:assert/strict";
import { test } from "node:test";
import { type Environment, harnessCapabilities, withEnvironment } from "../../../beam/portable/environment.ts";
import { runnerApi } from "../../../beam/sdk.ts";
import { smallJob } from "./small-job.ts";

const { DockerPayload, ExternalPayload, ProcessPayload } = runnerApi;
const { proto } = smallJob(() => undefined);

const table: [environment: Environment, urn: string, read: (payload: Uint8Array) => unknown, payload: object][] = [
  [
    { kind: "external", endpoint: "h:1", params: { a: "b" } },
    "beam:env:external:v1",
    (bytes) => ExternalPayload.fromBinary(bytes),
    ExternalPayload.create({ endpoint: { url: "h:1" }, params: { a: "b" } }),
  ],
  [
    { kind: "process", command: "/bin/worker", env: { A: "b" } },
    "beam:env:process:v1",
    (bytes) => ProcessPayload.fromBinary(bytes),
    ProcessPayload.create({ command: "/bin/worker", env: { A: "b" } }),
  ],
  [
    { kind: "docker", image: "registry/worker:1" },
    "beam:env:docker:v1",
    (bytes) => DockerPayload.fromBinary(bytes),
    DockerPayload.create({ containerImage: "registry/worker:1" }),
  ],
];
for (const [environment, urn, read, payload] of table)
  test(`workers of the kind ${environment.kind} are all that is named, and the pipeline given stays as it was`, () => {
    const before = runnerApi.Pipeline.toBinary(proto);
    const { components } = withEnvironment(proto, environment);
    const environments = Object.values(components?.environments ?? {});
    assert.equal(environments.length, 1);
    assert.equal(environments[0]?.urn, urn);
    assert.deepEqual(read(environments[0]!.payload), payload);
    assert.deepEqual(environments[0]?.capabilities, harnessCapabilities);
    assert.deepEqual(runnerApi.Pipeline.toBinary(proto), before);
  });

test("each transform's environment is one that the pipeline has", () => {
  const { environments, transforms } = withEnvironment(proto, { kind: "docker", image: "i" }).components!;
  const named = Object.values(transforms).flatMap(({ environmentId }) => (environmentId === "" ? [] : [environmentId]));
  assert.ok(named.length > 0);
  assert.deepEqual([...new Set(named)], Object.keys(environments));
});

test("no capability is claimed that the harness has not", () => {
  for (const lacking of ["data_sampling", "sibling_workers", "worker_status"])
    assert.ok(!harnessCapabilities.includes(`beam:protocol:${lacking}:v1`), lacking);
});
