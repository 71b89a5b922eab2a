// npm run compact: the many small WARC segments of a day in Cloud Storage become few large ones, while a crawl goes on.
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { systemClock } from "../../io/clock.ts";
import { textLog } from "../../io/log.ts";
import { systemRandom } from "../../io/random.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { exitCodes } from "../exit-codes.ts";
import { messageOf } from "../report.ts";
import { type CloudPlace, cloudFlags, cloudPlace } from "../stores/cloud-place.ts";
import { UsageError } from "../usage-error.ts";

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
  help: { type: "boolean", short: "h" },
} as const satisfies ParseArgsOptionsConfig;

const DAY_MS = 86_400_000;
const clock = systemClock();

process.exitCode = await compact(process.argv.slice(2));

async function compact(args: readonly string[]): Promise<number> {
  try {
    const asked = read(args);
    if (asked === "help") {
      process.stdout.write(HELP);
      return exitCodes.done;
    }
    const log = textLog((line) => process.stderr.write(`${line}\n`), "info");
    // Loads Google's clients, which help and faults do without.
    const { compactCloudStores } = await import("../stores/cloud-stores.ts");
    const { objects, segments, bytes, hoursTaken } = await compactCloudStores(asked.place, {
      day: asked.day,
      clock,
      random: systemRandom(),
      log,
    });
    const others = hoursTaken === 0 ? "" : `; ${hoursTaken} hours were another compaction's`;
    process.stdout.write(`${asked.day}: ${segments} segments, ${bytes} bytes, in ${objects} objects${others}\n`);
    return exitCodes.done;
  } catch (error) {
    process.stderr.write(`compact: ${messageOf(error)}\n`);
    if (error instanceof UsageError) return exitCodes.badUsage;
    return error instanceof StoreError ? exitCodes.brokenStore : exitCodes.fault;
  }
}

/** Throws UsageError. */
function read(args: readonly string[]): { place: CloudPlace; day: string } | "help" {
  const { help, day = new Date(clock.now() - DAY_MS).toISOString().slice(0, 10), ...named } = valuesOf(args);
  if (help) return "help";
  const place = cloudPlace(named);
  if (place === undefined) throw new UsageError("--project is needed; npm run compact -- --help tells more");
  if (Number.isNaN(Date.parse(day)) || !/^\d{4}-\d\d-\d\d$/.test(day))
    throw new UsageError(`--day ${JSON.stringify(day)} is no day such as 2026-01-31`);
  return { place, day };
}

function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, strict: true }).values;
  } catch (error) {
    const [first] = String((error as Error).message).split(/[.\n]/);
    throw new UsageError(`${first}; npm run compact -- --help lists what there is`);
  }
}
