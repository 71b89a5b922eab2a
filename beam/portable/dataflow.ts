// What does Beam's job service for Dataflow need to be told of a job? The options of apache_beam.runners.dataflow.dataflow_job_service.
import type { PipelineOptions } from "./options.ts";

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
  /** At the start; default is Dataflow's. */
  workers?: number;
  /** Beyond which it adds none. */
  workersMax?: number;
  labels?: Readonly<Record<string, string>>;
  /** Replaces the running job of the same name, whose transforms are known by their labels. */
  update?: boolean;
  /** Writes the job's template to this file, local to the job service or gs://, and starts nothing. */
  template?: string;
  /** The job service asks nobody for credentials; for emulators. */
  noAuth?: boolean;
}

/** For submit(). */
export function dataflowOptions(settings: DataflowSettings): PipelineOptions {
  const { labels = {}, workers, workersMax } = settings;
  return {
    project: settings.project,
    region: settings.region,
    stagingLocation: settings.stagingLocation,
    tempLocation: settings.tempLocation,
    serviceAccountEmail: settings.serviceAccount,
    subnetwork: settings.subnetwork,
    usePublicIps: settings.publicIps,
    machineType: settings.machineType,
    labels: Object.entries(labels).map(([name, value]) => `${name}=${value}`),
    // One worker a machine uses all its cores.
    experiments: ["no_use_multiple_sdk_containers"],
    update: settings.update || undefined,
    templateLocation: settings.template,
    noAuth: settings.noAuth || undefined,
    flags: [flag("num_workers", workers), flag("max_num_workers", workersMax)].flat(),
  };
}

/**
 * A number in an option comes to the job service as a fraction, which it fails at; what stands in `flags` it reads as it would its command line.
 * Where there are no flags it takes those that it was started with, so that they are always given.
 */
function flag(name: string, value: number | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}
