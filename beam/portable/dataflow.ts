// What does Dataflow need beside the job API? Its own read of Pub/Sub, one image for all workers, and the options of Beam's job service for it.
import type { PipelineProto } from "../sdk.ts";
import { withEnvironment } from "./environment.ts";
import type { PipelineOptions } from "./options.ts";
import { type PubsubRead, withPubsubReads } from "./pubsub-reads.ts";

/**
 * Numbers are not among them: they come to the job service as fractions, which it fails at. How many workers a job has is said when its template
 * is launched, or to the running job (gcloud dataflow jobs update-options).
 */
export interface DataflowSettings {
  project: string;
  region: string;
  /** gs://BUCKET/PATH where the job service puts the pipeline, and Dataflow reads it. */
  stagingLocation: string;
  /** gs://BUCKET/PATH for what Dataflow writes while it runs. */
  tempLocation: string;
  /** Of the workers; default is the project's. */
  serviceAccount?: string;
  /** regions/REGION/subnetworks/NAME */
  subnetwork?: string;
  /** Workers that fetch the web through a NAT have none; default is Dataflow's. */
  publicIps?: boolean;
  machineType?: string;
  /** A customer's key for state and queues: projects/…/cryptoKeys/NAME */
  kmsKey?: string;
  labels?: Readonly<Record<string, string>>;
  /** Replaces the running job of the same name; names of transforms that changed are mapped from old to new. */
  update?: true | { transforms: Readonly<Record<string, string>> };
  /** Beam's version that the replaced job was made with, where the new one must fit it. */
  updateCompatibilityVersion?: string;
  /** Writes the job's template to this file, local to the job service or gs://, and starts nothing. */
  template?: string;
  /** The job service asks nobody for credentials; for emulators. */
  noAuth?: boolean;
  /** More of the service's own. */
  experiments?: readonly string[];
}

/** The pipeline as Dataflow can carry it: `reads` by the labels of its sources, `image` as REGISTRY/NAME@sha256:… or :TAG. */
export function forDataflow(
  proto: PipelineProto,
  { image, reads }: { image: string; reads: Readonly<Record<string, PubsubRead>> },
): PipelineProto {
  return withEnvironment(withPubsubReads(proto, reads), { kind: "docker", image });
}

/** For submit(), to a job service of apache_beam.runners.dataflow.dataflow_job_service. */
export function dataflowOptions(settings: DataflowSettings): PipelineOptions {
  const { update, labels = {}, experiments = [] } = settings;
  const mapped = typeof update === "object" ? { transformNameMapping: update.transforms } : {};
  return {
    project: settings.project,
    region: settings.region,
    stagingLocation: settings.stagingLocation,
    tempLocation: settings.tempLocation,
    serviceAccountEmail: settings.serviceAccount,
    subnetwork: settings.subnetwork,
    usePublicIps: settings.publicIps,
    machineType: settings.machineType,
    dataflowKmsKey: settings.kmsKey,
    labels: Object.entries(labels).map(([name, value]) => `${name}=${value}`),
    // One worker a machine uses all its cores.
    experiments: ["no_use_multiple_sdk_containers", ...experiments],
    ...(update === undefined ? {} : { update: true, ...mapped }),
    updateCompatibilityVersion: settings.updateCompatibilityVersion,
    templateLocation: settings.template,
    noAuth: settings.noAuth,
  };
}
