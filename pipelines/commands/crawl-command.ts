// What does npm run crawl do with its arguments? Help and faults are answered before the pipeline is loaded, which takes ten times as long.
import { exitCodes } from "../exit-codes.ts";
import { crawlHelp } from "../help.ts";
import { parseOptions, UsageError } from "../options.ts";

/** The exit code; it says on stderr what is wrong, and never rejects. */
export async function crawlCommand(args: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(args);
    if (options === "help") {
      process.stdout.write(crawlHelp);
      return exitCodes.done;
    }
    const { runCrawl } = await import("./run-crawl.ts");
    return await runCrawl(options);
  } catch (error) {
    process.stderr.write(`gleaner: ${String(error instanceof Error ? error.message : error).replaceAll(/\s+/g, " ")}\n`);
    return error instanceof UsageError ? exitCodes.badUsage : exitCodes.fault;
  }
}
