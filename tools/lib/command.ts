// How does every tool read its arguments, open the data directory and end? One line to stderr and a code for each cause.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { normalizeUrl } from "../../core/url/normalize.ts";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { UsageError } from "../../pipelines/options.ts";
import { type CrawlReading, cloudFlags, cloudPlace, openForReading, StoreError } from "../../pipelines/wiring.ts";
import { limits } from "../../schemas/limits.ts";
import { shown } from "./words.ts";

export interface Tool<Target> {
  name: string;
  help: string;
  /** Throws UsageError where the argument is not what the tool is for. */
  target: (argument: string) => Target;
  /** What is to be said, and whether what was asked for is known at all. */
  run: (reading: CrawlReading, target: Target) => Promise<{ known: boolean; json: object; text: string }>;
}

export interface Told {
  code: number;
  stdout: string;
  stderr: string;
}

/** Never rejects. */
export async function runTool<Target>(tool: Tool<Target>, args: readonly string[]): Promise<Told> {
  let reading: CrawlReading | undefined;
  try {
    const asked = parsed(tool, args);
    if (asked === "help") return { code: exitCodes.done, stdout: tool.help, stderr: "" };
    reading = await openForReading(asked.data, asked.cloud);
    const { known, json, text } = await tool.run(reading, asked.target);
    // Where nothing is known, the code is that of a crawl that has nothing to show.
    const code = known ? exitCodes.done : exitCodes.nothingFetched;
    return { code, stdout: `${asked.json ? jsonOf(json) : text}\n`, stderr: "" };
  } catch (error) {
    return toldError(tool.name, error);
  } finally {
    await reading?.close();
  }
}

/** Says it and sets the exit code; what is written to a pipe still leaves before the process ends. */
export function say({ code, stdout, stderr }: Told): void {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
}

/** One line that says what is wrong, and the code of its kind. */
export function toldError(name: string, error: unknown): Told {
  const line = String((error as Error).message ?? error).replaceAll(/\s+/g, " ");
  return { code: codeOf(error), stdout: "", stderr: `${name}: ${line}\n` };
}

function codeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.badUsage;
  return error instanceof StoreError ? exitCodes.brokenStore : exitCodes.fault;
}

function parsed<Target>(tool: Tool<Target>, args: readonly string[]) {
  const { values, positionals } = flagsOf(tool.name, args, { ...commonFlags, ...cloudFlags });
  if (values.help) return "help";
  const [argument, second] = positionals;
  if (argument === undefined || second !== undefined)
    throw new UsageError(`one argument is expected, not ${positionals.length}; npm run ${tool.name} -- --help tells more`);
  const cloud = cloudOf(values);
  return { target: tool.target(argument), data: values.data ?? "./data", cloud, json: values.json ?? false };
}

/** Undefined where the flags name a data directory. Throws UsageError. */
export function cloudOf({ data, ...named }: { data?: string | undefined } & Parameters<typeof cloudPlace>[0]) {
  const cloud = cloudPlace(named);
  if (cloud !== undefined && data !== undefined)
    throw new UsageError("a crawl is in a folder (--data) or in the cloud (--project), not in both");
  return cloud;
}

/** The URL that an argument names. Throws UsageError where it names none. */
export function canonicalUrl(argument: string): string {
  const normal = normalizeUrl(argument);
  if (normal.ok) return normal.url;
  const length = normal.reason === "url-length" ? ` of at most ${limits.urlLength} characters` : "";
  throw new UsageError(`${JSON.stringify(shown(argument))} is not an absolute http:// or https:// URL${length}`);
}

/** The flags that every tool takes. */
export const commonFlags = {
  data: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

type Flags = NonNullable<ParseArgsConfig["options"]>;

/** Throws UsageError where one is unknown or malformed. */
export function flagsOf<const F extends Flags>(name: string, args: readonly string[], options: F) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const [first] = String((error as Error).message).split(/[.\n]/);
    throw new UsageError(`${first}; npm run ${name} -- --help lists what there is`);
  }
}

const TIME = /(?:^at|^until|At|Until)$/;

/** Times as ISO 8601, so that people and programs read them alike. */
function jsonOf(value: object): string {
  return JSON.stringify(value, (key, each) =>
    typeof each === "number" && TIME.test(key) ? new Date(each).toISOString() : each,
  );
}
