// What does npm run inspect take and say? All that is known of one URL.
import { normalizeUrl } from "../../core/url/normalize.ts";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { UsageError } from "../../pipelines/options.ts";
import { limits } from "../../schemas/limits.ts";
import type { Tool } from "./command.ts";
import { printedUrl } from "./print-url.ts";
import { readUrl } from "./read-url.ts";
import { shown } from "./words.ts";

const help = `What is known of one URL, whether a crawl is running or not.

  npm run inspect -- URL [--data DIR] [--json]

It prints the record, the last outcomes, the robots verdict with the line that decides, the host's clock, the due entry, and at the
end the one reason why the URL is not being fetched right now.

  --data DIR   the data directory of the crawl, default ./data
  --json       one object on stdout

Exit codes: ${exitCodes.done} known, ${exitCodes.nothingFetched} not known, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} data directory cannot be read, ${exitCodes.fault} an error of ours.
`;

export const inspectTool: Tool<string> = {
  name: "inspect",
  help,
  target(argument) {
    const normal = normalizeUrl(argument);
    if (normal.ok) return normal.url;
    const length = normal.reason === "url-length" ? ` of at most ${limits.urlLength} characters` : "";
    throw new UsageError(`${JSON.stringify(shown(argument))} is not an absolute http:// or https:// URL${length}`);
  },
  async run(reading, url) {
    const view = await readUrl(reading, url);
    const known = view.record !== undefined || view.explanation.because === "robots-file";
    return { known, json: view, text: printedUrl(view, reading.folder, reading.config) };
  },
};
