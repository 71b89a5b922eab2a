// What does npm run replay take, do and say? Stored pages parsed again: one, or all that were never parsed to their end.
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { UsageError } from "../../pipelines/options.ts";
import { type OpenedReplay, openForReplay, type ReplayReport, stopOnSignals } from "../../pipelines/wiring.ts";
import { limits } from "../../schemas/limits.ts";
import { canonicalUrl, commonFlags, flagsOf, type Told, toldError } from "./command.ts";
import { counted, shown } from "./words.ts";

const help = `Parses stored pages again, without the web, and writes what a crawl would: links for the next crawl, documents, index events.

  npm run replay -- URL [--data DIR] [--json]
  npm run replay -- --pending [--data DIR] [--json]

URL is one page. --pending takes all pages that were never parsed to their end: the parser was full or stalled when they were fetched,
or it gave them up for their time, their memory or an error. Such a page is marked until it was parsed, here or by a later visit.

A page that was never parsed becomes a new document version, and the index is told. One that was parsed before becomes a new version
only where its words (SimHash), its links or its robots tags parse otherwise than its record says; else nothing is written. A page that
the index does not have, though it was parsed, stays out of it until its next visit. The settings are those of the last crawl.

  --data DIR   the data directory of the crawl, default ./data; no crawl may run on it meanwhile
  --json       one object on stdout

Ctrl-C ends it between two pages, a second one at once; what is not parsed stays marked.
Exit codes: ${exitCodes.done} done, ${exitCodes.nothingFetched} nothing could be parsed (unknown URL, never fetched, no page, or the parser gave up again), ${exitCodes.badUsage} bad usage,
            ${exitCodes.brokenStore} data directory cannot be used, or a stored page is damaged, ${exitCodes.interrupted} interrupted, ${exitCodes.fault} an error of ours.
`;

const flags = { ...commonFlags, pending: { type: "boolean" } } as const;

interface Asked {
  target: { url: string } | "pending";
  data: string;
  json: boolean;
}

/** `say` is given what is to be told meanwhile, a line each. Never rejects. */
export async function runReplay(args: readonly string[], say: (line: string) => void): Promise<Told> {
  let opened: OpenedReplay | undefined;
  try {
    const asked = parsed(args);
    if (asked === "help") return { code: exitCodes.done, stdout: help, stderr: "" };
    opened = await openForReplay(asked.data, say);
    return told(asked, await replay(opened, asked, say));
  } catch (error) {
    return toldError("replay", error);
  } finally {
    await opened?.close();
  }
}

async function replay(opened: OpenedReplay, { target }: Asked, say: (line: string) => void): Promise<ReplayReport> {
  const stop = (): void => say("\nreplay: stopping, pages under way are finished first; once more to stop at once");
  const signals = stopOnSignals({ now: () => opened.now(), stop });
  try {
    const progress = (report: ReplayReport): void => say(`replay: so far ${summary(report)}`);
    return await opened.replay({ target, stopped: signals.stopped, progress });
  } finally {
    signals.end();
  }
}

const LISTED = 12; // pages named on stderr

function told({ target, json, data }: Asked, report: ReplayReport): Told {
  const named = report.troubles
    .slice(0, LISTED)
    .map(({ url, reason }) => `replay: ${shown(url)}: ${words[reason] ?? reason}\n`);
  const more = report.troubles.length - named.length;
  if (more > 0) named.push(`replay: and ${more} more pages, which --json names\n`);
  if (target !== "pending" && report.unknown !== undefined)
    named.push(`replay: ${shown(target.url)}: ${words[report.unknown]?.replace("DIR", data)}\n`);
  const text = `${report.interrupted ? "Interrupted; the same command goes on. " : ""}${summary(report)}`;
  return { code: codeFor(report), stdout: `${json ? JSON.stringify(report) : text}\n`, stderr: named.join("") };
}

/** Reasons in words; the closed lists are in transforms/reparse.ts and pipelines/replay.ts. */
const words: Readonly<Record<string, string>> = {
  "unknown-url": "no crawl in DIR knows it",
  "never-fetched": "it was never fetched, so there is no stored page; a crawl fetches it when it is due",
  "no-body": "no body of it was ever kept",
  "no-page": "what is kept is no page, or the URL no longer leads to one: there is nothing to parse",
  "no-place": "the store does not tell where its body lies",
  unreadable: "its stored object is damaged or gone",
  timeout: `parsing it took longer than ${limits.parseMs / 1000} s`,
  memory: `parsing it needed more than ${limits.parserMemoryMb} MiB`,
  error: "the parser failed on it",
  busy: "the parser did not get to it",
  moved: "its record was written by another process meanwhile",
};

function codeFor({ interrupted, missing, pages, parsed, unchanged, unknown }: ReplayReport): number {
  if (interrupted) return exitCodes.interrupted;
  if ((missing.unreadable ?? 0) + (missing["no-place"] ?? 0) > 0) return exitCodes.brokenStore;
  const nothing = unknown !== undefined || (pages > 0 && parsed + unchanged === 0);
  return nothing ? exitCodes.nothingFetched : exitCodes.done;
}

function summary({ records, pages, parsed, upserts, deletes, unchanged, failed, missing }: ReplayReport): string {
  return [
    `${counted(pages, "page")} of ${counted(records, "record")} to parse: ${parsed} parsed`,
    `${counted(upserts + deletes, "document version")} for the index`,
    `${unchanged} unchanged`,
    `failed ${sum(failed)}`,
    `missing objects ${sum(missing)}`,
  ].join(", ");
}

function sum(reasons: Readonly<Record<string, number>>): string {
  const entries = Object.entries(reasons);
  const total = entries.reduce((all, [, count]) => all + count, 0);
  return total === 0 ? "0" : `${total} (${entries.map(([reason, count]) => `${reason} ${count}`).join(", ")})`;
}

function parsed(args: readonly string[]): Asked | "help" {
  const { values, positionals } = flagsOf("replay", args, flags);
  if (values.help) return "help";
  const [url, second] = positionals;
  if (values.pending ? url !== undefined : url === undefined || second !== undefined)
    throw new UsageError("one URL or --pending is expected; npm run replay -- --help tells more");
  const target = url === undefined ? "pending" : { url: canonicalUrl(url) };
  return { target, data: values.data ?? "./data", json: values.json ?? false };
}
