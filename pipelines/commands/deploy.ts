// npm run deploy: from the sources to a running job in Google Cloud, each step shown before it is done; --dry-run shows them all.
import { createInterface } from "node:readline/promises";
import type { ParseArgsOptionsConfig } from "node:util";
import { runDeploy } from "../deploy/run-deploy.ts";
import { exitCodes } from "../exit-codes.ts";
import { UsageError } from "../usage-error.ts";
import { type FlagValues, runFlagsCommand } from "./command-line.ts";

const SIZES = { "1m": 1_000_000, "100m": 100_000_000, "1b": 1_000_000_000 } as const;

const HELP = `Brings a crawl to Google Cloud: builds, makes the resources by Terraform, pushes the images, writes the job's template, begins the job, and has the daily one scheduled.

  npm run deploy -- --env dev|prod --project P --region R --tag T --seed URL --contact ADDRESS --dry-run
  npm run deploy -- … without --dry-run does it

  --env dev|prod           terraform/environments/ENV, whose terraform.tfvars must stand (terraform/README.md)
  --project P, --region R  as there
  --tag T                  of the images and the template; a tag is given once
  --seed URL               where the crawl begins; may be given again and again
  --contact ADDRESS        in the user agent: an address that site owners reach
  --size 1m|100m|1b        fetches a day; default as terraform.tfvars says
  --job-service HOST:PORT  Beam's job service for Dataflow (docs/dataflow.md), default localhost:8099
  --container-engine E     docker (default) or podman
  --from STEP              goes on after a failure
  --yes                    asks nobody
  --dry-run                shows each step with its command and what it would change; needs none of the programs

Exit codes: ${exitCodes.done} done, ${exitCodes.badUsage} bad usage or a missing program, ${exitCodes.fault} a step failed, ${exitCodes.interrupted} not confirmed.
`;

const flags = {
  env: { type: "string" },
  project: { type: "string" },
  region: { type: "string" },
  tag: { type: "string" },
  seed: { type: "string", multiple: true },
  contact: { type: "string" },
  size: { type: "string" },
  "job-service": { type: "string" },
  "container-engine": { type: "string" },
  from: { type: "string" },
  yes: { type: "boolean" },
  "dry-run": { type: "boolean" },
} as const satisfies ParseArgsOptionsConfig;

const rules = {
  project: [/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, "6 to 30 lower-case letters, digits and hyphens, a letter first"],
  region: [/^[a-z]+-[a-z]+\d{1,2}$/, "a region such as europe-west1"],
  tag: [/^\w[\w.-]{0,60}$/, "letters, digits, dots and hyphens"],
  contact: [/^\S+@\S+$|^https?:\/\/\S+$/, "an address of mail or a page"],
} as const;

process.exitCode = await runFlagsCommand({ name: "deploy", help: HELP, flags, run }, process.argv.slice(2));

async function run(values: FlagValues<typeof flags>): Promise<number> {
  const { env, seed: seeds = [], size, from } = values;
  if (env !== "dev" && env !== "prod") throw new UsageError(`--env ${JSON.stringify(env ?? "")} is neither dev nor prod`);
  for (const [name, [allowed, says]] of Object.entries(rules)) {
    const value = values[name as keyof typeof rules];
    if (value === undefined || !allowed.test(value)) throw new UsageError(`--${name} ${JSON.stringify(value ?? "")}: ${says}`);
  }
  if (seeds.length === 0) throw new UsageError("--seed is needed: a URL where the crawl begins");
  if (size !== undefined && !(size in SIZES))
    throw new UsageError(`--size ${JSON.stringify(size)} is none of ${Object.keys(SIZES).join(", ")}`);
  const engine = values["container-engine"] ?? "docker";
  if (engine !== "docker" && engine !== "podman")
    throw new UsageError(`--container-engine ${JSON.stringify(engine)} is neither docker nor podman`);
  return runDeploy({
    deployment: {
      ...{ env, seeds, engine, project: values.project!, region: values.region!, tag: values.tag!, contact: values.contact! },
      jobService: values["job-service"] ?? "localhost:8099",
      ...(size === undefined ? {} : { size: SIZES[size as keyof typeof SIZES] }),
    },
    dryRun: values["dry-run"] ?? false,
    from,
    confirm: values.yes ? async () => true : confirmed,
    say: (line) => void process.stdout.write(`${line}\n`),
  });
}

async function confirmed(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  // Where nobody can answer, nobody has said yes.
  const closed = new Promise<boolean>((resolve) => asking.once("close", () => resolve(false)));
  try {
    return await Promise.race([asking.question(`${question} (yes) `).then((answer) => answer.trim() === "yes"), closed]);
  } finally {
    asking.close();
  }
}
