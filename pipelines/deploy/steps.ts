// What has to be done, in which order, until a crawl runs in Google Cloud? Each step as the command that does it, and what it changes.

export interface Deployment {
  env: "dev" | "prod";
  project: string;
  region: string;
  /** Of the images; given once. */
  tag: string;
  /** Where its crawl begins. */
  seeds: readonly string[];
  contact: string;
  /** docker or podman. */
  engine: string;
  /** host:port of Beam's job service for Dataflow. */
  jobService: string;
  /** Fetches a day; undefined: as terraform.tfvars says. */
  size?: number;
}

export interface Step {
  name: string;
  /** What it changes, for people. */
  changes: string;
  command: readonly string[];
}

/**
 * `outputs`: of the environment's Terraform; where it was never applied its resources are made first, so what a later step is given of
 * them stands as $(terraform … output …) in a dry run.
 */
export function deploySteps(deployment: Deployment, output: (name: string) => string): Step[] {
  const { env, project, region, tag, seeds, contact, engine, jobService, size } = deployment;
  const chdir = `-chdir=terraform/environments/${env}`;
  const image = `${output("image")}:${tag}`;
  const launcher = `${output("launcher_image")}:${tag}`;
  const template = `${output("template_location")}/crawl-${tag}`;
  const flags = words(output("command_flags"));
  const sized = size === undefined ? [] : [`-var=fetches_per_day=${size}`];
  return [
    { name: "build", changes: "dist/ on this machine", command: ["npm", "run", "build"] },
    {
      name: "init",
      changes: "nothing: Terraform reads its state",
      command: ["terraform", chdir, "init", "-input=false", `-backend-config=bucket=${project}-terraform`],
    },
    {
      name: "resources",
      changes:
        "tables, topics, buckets, datasets, accounts, network and registry, as Terraform's plan says; no job without a template or an image",
      command: ["terraform", chdir, "apply", "-input=false", ...sized],
    },
    {
      name: "set-up",
      changes: "nothing but the version of the tables: everything else stands already",
      command: ["npm", "run", "set-up", "--", ...flags, ...words(output("set_up_flags"))],
    },
    { name: "image", changes: "an image on this machine", command: [engine, "build", "--tag", image, "."] },
    { name: "push", changes: `${image} in the project's registry`, command: [engine, "push", image] },
    {
      name: "launcher-image",
      changes: "an image on this machine: what the daily job runs",
      command: [engine, "build", "--target", "launcher", "--tag", launcher, "."],
    },
    { name: "launcher-push", changes: `${launcher} in the project's registry`, command: [engine, "push", launcher] },
    {
      name: "template",
      changes: `${template}, and the crawl's configuration and seeds in its stores`,
      command: [
        ...["npm", "run", "crawl", "--", ...seeds, "--contact", contact, "--stores", "cloud", ...flags],
        ...["--engine", "dataflow", "--endpoint", jobService, "--image", image, "--template", template],
        ...words(output("launch_flags")),
      ],
    },
    {
      name: "job",
      changes: `the streaming job in ${region}, begun or replaced by the template, its sweeps, and the daily job of the images`,
      command: [
        ...["terraform", chdir, "apply", "-input=false", `-var=template=${template}`],
        ...[`-var=daily_image=${launcher}`, `-var=daily_worker_image=${image}`],
        ...sized,
      ],
    },
  ];
}

/** An output that is not known yet is one word: a shell puts in what it becomes. */
function words(flags: string): string[] {
  return flags.startsWith("$(") ? [flags] : flags.split(" ").filter((word) => word !== "");
}

/** As a shell reads it. */
export function shown(command: readonly string[]): string {
  return command.map(shownWord).join(" ");
}

function shownWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word) || word.startsWith("$(")) return word;
  return word.includes("$(") ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Programs that the steps need, and how each is had. */
export const programs: Readonly<Record<string, string>> = {
  terraform: "https://developer.hashicorp.com/terraform/install, 1.9 or newer",
  gcloud: "https://cloud.google.com/sdk/docs/install, then gcloud auth application-default login",
  docker: "https://docs.docker.com/engine/install, or podman with --container-engine podman",
  podman: "https://podman.io/docs/installation",
};
