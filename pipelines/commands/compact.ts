// npm run compact: the many small WARC segments of a day in Cloud Storage become few large ones, while a crawl goes on.
import type { ParseArgsOptionsConfig } from "node:util";
import { systemClock } from "../../io/clock.ts";
import { textLog } from "../../io/log.ts";
import { systemRandom } from "../../io/random.ts";
import { exitCodes } from "../exit-codes.ts";
import { type CloudPlace, cloudFlags, cloudPlace } from "../stores/cloud-place.ts";
import { UsageError } from "../usage-error.ts";
import { type FlagValues, runFlagsCommand } from "./command-line.ts";
import { utcDay } from "./utc-day.ts";

const HELP = `Composes the small WARC segments of a day into objects of a gibibyte, and rewrites their index. May be cut off and run again, also
by several at once; records are found all the time. Segments of the last five minutes are left for the next run.

  npm run compact -- --project P [--day YYYY-MM-DD] [options]

  --project P, --instance I, --bucket B, --crawl NAME, --app-profile A   as npm run set-up -- --help tells
  --day YYYY-MM-DD   UTC; default yesterday
  -h, --help

Exit codes: ${exitCodes.done} done, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} a service refused or cannot be reached, ${exitCodes.fault} an error of ours.
`;

const flags = {
  ...cloudFlags,
  day: { type: "string" },
} as const satisfies ParseArgsOptionsConfig;

const clock = systemClock();

process.exitCode = await runFlagsCommand({ name: "compact", help: HELP, flags, run: compact }, process.argv.slice(2));

async function compact(values: FlagValues<typeof flags>): Promise<number> {
  const { place, day } = asked(values);
  const log = textLog((line) => process.stderr.write(`${line}\n`), "info");
  // Loads Google's clients, which help and faults do without.
  const { compactCloudStores } = await import("../stores/cloud-stores.ts");
  const compacted = await compactCloudStores(place, { day, clock, random: systemRandom(), log });
  if (compacted === undefined) {
    process.stdout.write(`${day}: closed by the daily run, which has composed its segments\n`);
    return exitCodes.done;
  }
  const { objects, segments, bytes, hoursTaken } = compacted;
  const others = hoursTaken === 0 ? "" : `; ${hoursTaken} hours were another compaction's`;
  process.stdout.write(`${day}: ${segments} segments, ${bytes} bytes, in ${objects} objects${others}\n`);
  return exitCodes.done;
}

/** Throws UsageError. */
function asked({ day, ...named }: FlagValues<typeof flags>): { place: CloudPlace; day: string } {
  const place = cloudPlace(named);
  if (place === undefined) throw new UsageError("--project is needed; npm run compact -- --help tells more");
  return { place, day: utcDay("--day", day, clock.now()) };
}
