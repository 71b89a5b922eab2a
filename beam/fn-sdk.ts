// What does the SDK harness take of apache-beam beside sdk.ts? The Fn API's protos; a second door, so that the embedded engine does not load them.
import { createRequire } from "node:module";

type Protos = typeof import("apache-beam/proto/beam_fn_api");
type MetricsProtos = typeof import("apache-beam/proto/metrics");

export type InstructionRequest = import("apache-beam/proto/beam_fn_api").InstructionRequest;
export type InstructionResponse = import("apache-beam/proto/beam_fn_api").InstructionResponse;
export type ProcessBundleRequest = import("apache-beam/proto/beam_fn_api").ProcessBundleRequest;
export type ProcessBundleResponse = import("apache-beam/proto/beam_fn_api").ProcessBundleResponse;
export type BundleDescriptor = import("apache-beam/proto/beam_fn_api").ProcessBundleDescriptor;
export type DelayedApplication = import("apache-beam/proto/beam_fn_api").DelayedBundleApplication;
export type LogEntry = import("apache-beam/proto/beam_fn_api").LogEntry;
export type MonitoringInfo = import("apache-beam/proto/metrics").MonitoringInfo;
export type CoderProto = import("apache-beam/proto/beam_runner_api").Coder;

const require = createRequire(import.meta.url);

export const fnApi: Protos = require("apache-beam/proto/beam_fn_api");
export const monitoring: MetricsProtos = require("apache-beam/proto/metrics");

const SERVICES = "/org.apache.beam.model.fn_execution.v1.";

/** Paths of the calls of beam_fn_api.proto. */
export const fnCalls = {
  control: `${SERVICES}BeamFnControl/Control`,
  descriptor: `${SERVICES}BeamFnControl/GetProcessBundleDescriptor`,
  data: `${SERVICES}BeamFnData/Data`,
  state: `${SERVICES}BeamFnState/State`,
  logging: `${SERVICES}BeamFnLogging/Logging`,
} as const;
