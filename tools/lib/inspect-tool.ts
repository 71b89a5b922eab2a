// What does npm run inspect take and say? All that is known of one URL.
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { canonicalUrl, type Tool } from "./command.ts";
import { printedUrl } from "./print-url.ts";
import { readUrl } from "./read-url.ts";

const help = `What is known of one URL, whether a crawl is running or not.

  npm run inspect -- URL [--data DIR | --project P] [--json]

It prints the record, the last outcomes, the robots verdict with the line that decides, the host's clock, the due entry, and at the
end the one reason why the URL is not being fetched right now.

  --data DIR   the data directory of the crawl, default ./data
  --project P, --instance I, --bucket B, --crawl NAME, --app-profile A   of a crawl in the cloud instead, as npm run set-up -- --help tells
  --json       one object on stdout

Exit codes: ${exitCodes.done} known, or refused for the reason named, ${exitCodes.nothingFetched} never seen, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} data directory or cloud stores cannot be read, ${exitCodes.fault} an error of ours.
`;

export const inspectTool: Tool<string> = {
  name: "inspect",
  help,
  target: canonicalUrl,
  async run(reading, url) {
    const view = await readUrl(reading, url);
    // A refusal is an answer to what was asked, whether an event tells of it or the rules do: not every refused URL stands in the events.
    return { known: view.explanation.because !== "unseen", json: view, text: printedUrl(view, reading.folder, reading.config) };
  },
};
