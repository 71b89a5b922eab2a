// How is a job to run on Dataflow? Its region, the image and the number of its workers, whose rights they have, and whether it is only written down.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ParseArgsOptionsConfig } from "node:util";
import type { DataflowSettings } from "../../beam/portable/dataflow.ts";
import { UsageError } from "../usage-error.ts";

type OfService = "region" | "serviceAccount" | "subnetwork" | "publicIps" | "machineType" | "workers" | "workersMax";

export interface DataflowPlace extends Pick<DataflowSettings, OfService | "template" | "noAuth"> {
  /** REGISTRY/…/NAME:TAG or @sha256:DIGEST */
  image: string;
  /** Replaces the running job of the same name. */
  update: boolean;
}

export const dataflowFlags = {
  image: { type: "string" },
  region: { type: "string" },
  "service-account": { type: "string" },
  subnetwork: { type: "string" },
  "public-ips": { type: "string" },
  "machine-type": { type: "string" },
  workers: { type: "string" },
  "max-workers": { type: "string" },
  update: { type: "boolean" },
  template: { type: "string" },
} as const satisfies ParseArgsOptionsConfig;

type Flag = keyof typeof dataflowFlags;
type DataflowValues = { [K in Flag]?: (K extends "update" ? boolean : string) | undefined };

/** The service's own limit: https://cloud.google.com/dataflow/quotas */
const WORKERS_MAX = 4_000;

interface Rule {
  allowed: RegExp;
  says: string;
}

const rules = {
  image: {
    allowed: /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+(:\w[\w.-]{0,127}|@sha256:[0-9a-f]{64})$/,
    says: "REGISTRY/PATH/NAME:TAG or …@sha256:DIGEST: a worker that starts later must be of the same build",
  },
  region: { allowed: /^[a-z]+-[a-z]+\d{1,2}$/, says: "a region such as europe-west1" },
  "service-account": {
    allowed: /^[a-z0-9-]{1,63}@[a-z0-9.-]{1,200}\.gserviceaccount\.com$/,
    says: "an account's address, NAME@PROJECT.iam.gserviceaccount.com",
  },
  subnetwork: {
    allowed:
      /^(https:\/\/www\.googleapis\.com\/compute\/v1\/projects\/[a-z0-9.:-]+\/)?regions\/[a-z0-9-]+\/subnetworks\/[a-z0-9-]+$/,
    says: "regions/REGION/subnetworks/NAME, with https://www.googleapis.com/compute/v1/projects/HOST-PROJECT/ before it where it is another project's",
  },
  "machine-type": { allowed: /^[a-z][a-z0-9]*(-[a-z0-9]+){1,4}$/, says: "a machine type such as n2-standard-4" },
  "public-ips": { allowed: /^(true|false)$/, says: "true or false" },
  template: {
    allowed: /^(gs:\/\/[a-z0-9][\w.-]{1,61}[a-z0-9]\/)?(?!gs:)(?=[^\0\n]*[^\0\n/]$)[^\0\n]+$/,
    says: "a file, or gs://BUCKET/OBJECT",
  },
} as const satisfies Partial<Record<Flag, Rule>>;

/** Throws UsageError. */
export function dataflowPlace(values: DataflowValues): DataflowPlace {
  const { image, region, update = false, template } = values;
  for (const flag of ["image", "region"] as const)
    if (values[flag] === undefined) throw new UsageError(`--engine dataflow needs --${flag}: ${rules[flag].says}`);
  for (const [flag, { allowed, says }] of Object.entries(rules) as [keyof typeof rules, Rule][]) {
    const value = values[flag];
    if (value !== undefined && !allowed.test(value)) throw new UsageError(`--${flag} ${JSON.stringify(value)}: ${says}`);
  }
  if (update && template !== undefined)
    throw new UsageError(
      "--update is for a job that starts now: a template's job is told at its launch whether it replaces one",
    );
  // Who has an emulator often has no credentials, and it has no use for them.
  const noAuth = (process.env.STORAGE_EMULATOR_HOST ?? "") !== "";
  if (noAuth && template === undefined)
    throw new UsageError("--engine dataflow needs --template: Dataflow cannot read the emulator of STORAGE_EMULATOR_HOST");
  const written = template === undefined ? {} : { template: templateOf(template) };
  return { image: image!, region: region!, update, noAuth, ...ofService(values), ...written };
}

/** What the service is told of the workers, where the flags say something. */
function ofService(values: DataflowValues): Partial<Pick<DataflowSettings, OfService>> {
  const [workers, workersMax] = [count("workers", values.workers), count("max-workers", values["max-workers"])];
  if (workers !== undefined && workersMax !== undefined && workers > workersMax)
    throw new UsageError(`--workers ${workers} is more than --max-workers ${workersMax}`);
  const { "service-account": serviceAccount, subnetwork, "public-ips": publicIps, "machine-type": machineType } = values;
  return {
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
    ...(subnetwork === undefined ? {} : { subnetwork }),
    ...(publicIps === undefined ? {} : { publicIps: publicIps === "true" }),
    ...(machineType === undefined ? {} : { machineType }),
    ...(workers === undefined ? {} : { workers }),
    ...(workersMax === undefined ? {} : { workersMax }),
  };
}

function count(flag: "workers" | "max-workers", value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= WORKERS_MAX) return number;
  throw new UsageError(`--${flag} ${JSON.stringify(value)} is not a whole number from 1 to ${WORKERS_MAX}`);
}

/** The job service, which writes the file, has a working directory of its own, and tries for minutes where a folder is missing. */
function templateOf(template: string): string {
  if (template.startsWith("gs://")) return template;
  const path = resolve(template);
  if (!existsSync(dirname(path)))
    throw new UsageError(`--template ${JSON.stringify(template)}: there is no folder ${dirname(path)}`);
  return path;
}
