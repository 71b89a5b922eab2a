// What of gRPC and of Beam's job API do we take? A second door, so that a run on the embedded engine loads none of it.
import { createRequire } from "node:module";

type Grpc = typeof import("@grpc/grpc-js");
type JobApi = typeof import("apache-beam/proto/beam_job_api");
type JobClient = typeof import("apache-beam/proto/beam_job_api.grpc-client");
type ArtifactApi = typeof import("apache-beam/proto/beam_artifact_api");
type ArtifactClient = typeof import("apache-beam/proto/beam_artifact_api.grpc-client");
type ProvisionApi = typeof import("apache-beam/proto/beam_provision_api");
type ProvisionClient = typeof import("apache-beam/proto/beam_provision_api.grpc-client");
type FnApi = typeof import("apache-beam/proto/beam_fn_api");
type FnServer = typeof import("apache-beam/proto/beam_fn_api.grpc-server");
type StructApi = typeof import("apache-beam/proto/google/protobuf/struct");

export type ArtifactRequest = import("apache-beam/proto/beam_artifact_api").ArtifactRequestWrapper;
export type ArtifactResponse = import("apache-beam/proto/beam_artifact_api").ArtifactResponseWrapper;
export type CancelJobResponse = import("apache-beam/proto/beam_job_api").CancelJobResponse;
export type JobMessagesResponse = import("apache-beam/proto/beam_job_api").JobMessagesResponse;
export type JobService = import("apache-beam/proto/beam_job_api.grpc-client").JobServiceClient;
export type MonitoringInfo = import("apache-beam/proto/metrics").MonitoringInfo;
export type ProvisionInfo = import("apache-beam/proto/beam_provision_api").ProvisionInfo;
export type StartWorkerRequest = import("apache-beam/proto/beam_fn_api").StartWorkerRequest;
export type StopWorkerRequest = import("apache-beam/proto/beam_fn_api").StopWorkerRequest;
export type Struct = import("apache-beam/proto/google/protobuf/struct").Struct;
export type ClientUnaryCall = import("@grpc/grpc-js").ClientUnaryCall;
export type ServiceError = import("@grpc/grpc-js").ServiceError;

const require = createRequire(import.meta.url);

export const grpc: Grpc = require("@grpc/grpc-js");
export const jobApi: JobApi = require("apache-beam/proto/beam_job_api");
export const { JobServiceClient }: JobClient = require("apache-beam/proto/beam_job_api.grpc-client");
export const artifactApi: ArtifactApi = require("apache-beam/proto/beam_artifact_api");
export const { ArtifactStagingServiceClient }: ArtifactClient = require("apache-beam/proto/beam_artifact_api.grpc-client");
export const provisionApi: ProvisionApi = require("apache-beam/proto/beam_provision_api");
export const { ProvisionServiceClient }: ProvisionClient = require("apache-beam/proto/beam_provision_api.grpc-client");
export const fnApi: FnApi = require("apache-beam/proto/beam_fn_api");
export const { beamFnExternalWorkerPoolDefinition }: FnServer = require("apache-beam/proto/beam_fn_api.grpc-server");
export const structApi: StructApi = require("apache-beam/proto/google/protobuf/struct");
