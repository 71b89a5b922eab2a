// npm run set-up: the tables, topics, subscriptions and the bucket of a crawl whose stores are Google Cloud's. Again changes nothing.
import type { ParseArgsOptionsConfig } from "node:util";
import { systemClock } from "../../io/clock.ts";
import { systemRandom } from "../../io/random.ts";
import { exitCodes } from "../exit-codes.ts";
import { type CloudPlace, cloudFlags, cloudPlace } from "../stores/cloud-place.ts";
import { UsageError } from "../usage-error.ts";
import { type FlagValues, runFlagsCommand } from "./command-line.ts";

const HELP = `Makes what a crawl in Google Cloud keeps its records, messages and pages in; what stands is left as it is.

  npm run set-up -- --project P [options]
  npm run crawl -- URL… --stores cloud --project P [the same options]

  --project P        the Google Cloud project
  --instance I       its Bigtable instance, which must stand; default gleaner
  --bucket B         of Cloud Storage, made where there is none; default P-gleaner
  --crawl NAME       what the names of tables, topics and subscriptions begin with; default gleaner
  --app-profile A    of the instance, with single-cluster routing and single-row transactions; default: the instance's own
  --location L       of a bucket that is made: a region or US, EU, ASIA; default US
  --dataset D        BigQuery's, with the tables of schemas/tables: events are written there by their subscriptions;
                     without it they wait in subscriptions to be pulled
  -h, --help

Credentials are those of the environment (gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS). Emulators are
spoken to where BIGTABLE_EMULATOR_HOST, PUBSUB_EMULATOR_HOST and STORAGE_EMULATOR_HOST say so (npm run emulators prints them).
Exit codes: ${exitCodes.done} all stands, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} a service refused or cannot be reached, ${exitCodes.fault} an error of ours.
`;

const flags = {
  ...cloudFlags,
  location: { type: "string" },
  dataset: { type: "string" },
} as const satisfies ParseArgsOptionsConfig;

process.exitCode = await runFlagsCommand({ name: "set-up", help: HELP, flags, run: setUp }, process.argv.slice(2));

async function setUp(values: FlagValues<typeof flags>): Promise<number> {
  const { place, ...options } = asked(values);
  // Loads Google's clients, which help and faults do without.
  const { setUpCloudStores } = await import("../stores/cloud-stores.ts");
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  await setUpCloudStores(place, { ...options, clock: systemClock(), random: systemRandom(), say });
  return exitCodes.done;
}

interface Asked {
  place: CloudPlace;
  location: string;
  dataset?: string;
}

/** Throws UsageError. */
function asked({ location = "US", dataset, ...named }: FlagValues<typeof flags>): Asked {
  const place = cloudPlace(named);
  if (place === undefined) throw new UsageError("--project is needed; npm run set-up -- --help tells more");
  if (!/^[A-Za-z0-9-]{2,40}$/.test(location))
    throw new UsageError(`--location ${JSON.stringify(location)}: a region such as europe-west1, or US, EU, ASIA`);
  if (dataset !== undefined && !/^\w{1,1024}$/.test(dataset))
    throw new UsageError(`--dataset ${JSON.stringify(dataset)}: letters, digits and underscores`);
  return { place, location, ...(dataset === undefined ? {} : { dataset }) };
}
