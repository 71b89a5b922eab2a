// What does npm run read take, do and say? The complete days of a crawl's output, verified, summed up or printed.
import { type Family, families } from "../../core/partitions/partition-files.ts";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { UsageError } from "../../pipelines/options.ts";
import { openOutput, StoreError } from "../../pipelines/wiring.ts";
import { flagsOf, toldError } from "./command.ts";
import { type ClosedDay, captureLines, closedDays, documentLines, faultsOf, lateFiles } from "./read-partition.ts";
import type { Write } from "./stats-print.ts";
import { counted } from "./words.ts";

const help = `The complete output of a crawl, as an index builder reads it (docs/partitions.md). A day is complete once npm run daily has closed it.

  npm run read -- DIR                       the days that are complete, with files, rows and bytes
  npm run read -- DIR --verify [--day D]    every file against its manifest: bytes, digest, rows
  npm run read -- DIR --documents [--day D] the documents, one JSON object a line
  npm run read -- DIR --pages [--day D]     the captures, one JSON object a line, with the place of their WARC record

  DIR          the data directory of the crawl
  --day D      UTC, YYYY-MM-DD; default all that are complete
  --limit N    lines at most
  -h, --help

Exit codes: ${exitCodes.done} read, ${exitCodes.badUsage} bad usage, ${exitCodes.nothingFetched} no complete day, ${exitCodes.brokenStore} a file is missing or is not what its manifest says, ${exitCodes.fault} an error of ours.
`;

const flags = {
  day: { type: "string" },
  limit: { type: "string" },
  verify: { type: "boolean" },
  documents: { type: "boolean" },
  pages: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

interface Asked {
  folder: string;
  day: string | undefined;
  what: "summary" | "verify" | Family;
  limit: number;
}

/** The exit code, and what belongs on stderr. `write` is given stdout piece by piece. Never rejects. */
export async function runRead(args: readonly string[], write: Write): Promise<{ code: number; stderr: string }> {
  try {
    const asked = parsed(args);
    if (asked === "help") {
      await write(help);
      return { code: exitCodes.done, stderr: "" };
    }
    return await answered(asked, write);
  } catch (error) {
    return toldError("read", error);
  }
}

async function answered({ folder, day, what, limit }: Asked, write: Write): Promise<{ code: number; stderr: string }> {
  const output = openOutput(folder);
  const wanted = what === "documents" || what === "pages" ? [what] : families;
  const closed = (await Promise.all(wanted.map((family) => closedDays(output, family)))).flat();
  const days = closed.filter((each) => day === undefined || each.day === day);
  if (days.length === 0) {
    const which = day === undefined ? "no day of it is complete" : `${day} is not complete`;
    return {
      code: exitCodes.nothingFetched,
      stderr: `read: ${folder}: ${which}; npm run daily closes a day once it is over\n`,
    };
  }
  if (what === "verify") return verified(output, days, write);
  if (what === "summary") for (const each of days) await write(`${summary(each)}\n`);
  else {
    let left = limit;
    for (const each of days)
      for await (const line of what === "documents" ? documentLines(output, each) : captureLines(output, each)) {
        if (left-- <= 0) return { code: exitCodes.done, stderr: "" };
        await write(`${line}\n`);
      }
  }
  return { code: exitCodes.done, stderr: "" };
}

async function verified(output: ReturnType<typeof openOutput>, days: readonly ClosedDay[], write: Write) {
  let faults = 0;
  for (const each of days) {
    const found = await faultsOf(output, each);
    faults += found.length;
    await write(`${summary(each)}: ${found.length === 0 ? "as its manifest says" : counted(found.length, "fault")}\n`);
    for (const fault of found) await write(`  ${fault}\n`);
    const late = await lateFiles(output, each);
    for (const path of late) await write(`  ${path} came late: a later day's manifest names it, or will\n`);
  }
  if (faults > 0)
    throw new StoreError(`${counted(faults, "file")} of the output ${faults === 1 ? "is" : "are"} not what was closed`);
  return { code: exitCodes.done, stderr: "" };
}

function summary({ family, day, manifest: { files, rows, bytes } }: ClosedDay): string {
  const what = family === "documents" ? counted(rows, "document") : counted(rows, "capture");
  return `${family}/dt=${day}: ${what}, ${counted(files.length, "file")}, ${counted(bytes, "byte")}`;
}

function parsed(args: readonly string[]): Asked | "help" {
  const { values, positionals } = flagsOf("read", args, flags);
  if (values.help) return "help";
  const [folder, second] = positionals;
  if (folder === undefined || second !== undefined)
    throw new UsageError(`one folder is expected, not ${positionals.length}; npm run read -- --help tells more`);
  const asked = (["verify", "documents", "pages"] as const).filter((name) => values[name]);
  if (asked.length > 1)
    throw new UsageError(`--${asked[0]} and --${asked[1]}: one of --verify, --documents, --pages at a time`);
  const { day, limit } = values;
  if (day !== undefined && !/^\d{4}-\d\d-\d\d$/.test(day))
    throw new UsageError(`--day ${JSON.stringify(day)} is no day such as 2026-01-31`);
  if (limit !== undefined && !/^\d{1,15}$/.test(limit))
    throw new UsageError(`--limit ${JSON.stringify(limit)} is not a whole number`);
  return { folder, day, what: asked[0] ?? "summary", limit: limit === undefined ? Number.POSITIVE_INFINITY : Number(limit) };
}
