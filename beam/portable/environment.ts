// Where do the workers of a job run? In a pool that waits for them, as processes of the runner's machines, or in containers (beam_runner_api.proto, Environment).
import { type PipelineProto, runnerApi } from "../sdk.ts";

export type Environment =
  /** `endpoint` is the host:port of a worker pool: see worker-pool.ts. */
  | { kind: "external"; endpoint: string; params?: Readonly<Record<string, string>> }
  /** `command` is the path of a program that keeps the contract of container.ts; it gets `env` beside the runner's own. */
  | { kind: "process"; command: string; env?: Readonly<Record<string, string>> }
  | { kind: "docker"; image: string };

/**
 * What our harness truly does. Not among them: sampling of data, workers beside one another in a container, and the status service.
 */
export const harnessCapabilities: readonly string[] = [
  "beam:protocol:progress_reporting:v1",
  "beam:protocol:harness_monitoring_infos:v1",
  "beam:protocol:control_request_elements_embedding:v1",
  // Bundles run side by side, and parsing and compression on threads of their own.
  "beam:protocol:multi_core_bundle_processing:v1",
  "beam:protocol:state_caching:v1",
  "beam:transform:sdf_truncate_sized_restrictions:v1",
  ...["bytes", "string_utf8", "kv", "varint", "double", "iterable", "state_backed_iterable", "timer", "length_prefix"].map(
    coder,
  ),
  ...["global_window", "windowed_value"].map(coder),
];

/** The pipeline with all that is ours in it given to these workers. */
export function withEnvironment(
  proto: PipelineProto,
  environment: Environment,
  capabilities: readonly string[] = harnessCapabilities,
): PipelineProto {
  const copy = runnerApi.Pipeline.clone(proto);
  const { environments } = copy.components!;
  for (const [id, one] of Object.entries(environments))
    environments[id] = { ...one, ...spelled(environment), capabilities: [...capabilities] };
  return copy;
}

function spelled(environment: Environment): { urn: string; payload: Uint8Array } {
  if (environment.kind === "docker") {
    const payload = runnerApi.DockerPayload.create({ containerImage: environment.image });
    return { urn: "beam:env:docker:v1", payload: runnerApi.DockerPayload.toBinary(payload) };
  }
  if (environment.kind === "process") {
    const payload = runnerApi.ProcessPayload.create({ command: environment.command, env: { ...environment.env } });
    return { urn: "beam:env:process:v1", payload: runnerApi.ProcessPayload.toBinary(payload) };
  }
  const payload = runnerApi.ExternalPayload.create({
    endpoint: { url: environment.endpoint },
    params: { ...environment.params },
  });
  return { urn: "beam:env:external:v1", payload: runnerApi.ExternalPayload.toBinary(payload) };
}

function coder(name: string): string {
  return `beam:coder:${name}:v1`;
}
