// What does npm run explain take and say? One verdict on one host, and its evidence.
import { hostKeyOf, paceKeyOfHost } from "../../core/url/keys.ts";
import { normalizeUrl } from "../../core/url/normalize.ts";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { UsageError } from "../../pipelines/options.ts";
import type { Tool } from "./command.ts";
import { printedHost } from "./print-host.ts";
import { readHost } from "./read-host.ts";
import { shown } from "./words.ts";

const help = `Why a host is, or is not, being fetched, whether a crawl is running or not.

  npm run explain -- HOST [--data DIR | --project P] [--json]

HOST is a host name, host:port, or any URL of the host. The verdict comes first: politeness-bound (its clock decides), robots-bound,
failing, budget (a page limit), paused, idle (nothing pending but revisits), or unknown host; its evidence follows.

  --data DIR   the data directory of the crawl, default ./data
  --project P, --instance I, --bucket B, --crawl NAME, --app-profile A   of a crawl in the cloud instead, as npm run set-up -- --help tells
  --json       one object on stdout

Exit codes: ${exitCodes.done} known, ${exitCodes.nothingFetched} unknown host, ${exitCodes.badUsage} bad usage, ${exitCodes.brokenStore} data directory or cloud stores cannot be read, ${exitCodes.fault} an error of ours.
`;

export const explainTool: Tool<string> = {
  name: "explain",
  help,
  target: paceKeyOf,
  async run(reading, paceKey) {
    const view = await readHost(reading, paceKey);
    return { known: view.explanation.verdict !== "unknown-host", json: view, text: printedHost(view) };
  },
};

/** A port that is the default of its scheme is no part of the key, whichever scheme that is. */
export function paceKeyOf(argument: string): string {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(argument);
  const scheme = /:443$/.test(argument) ? "https" : "http";
  const normal = normalizeUrl(isUrl ? argument : `${scheme}://${argument}/`);
  if (normal.ok && (isUrl || !/[/?#@\\\s]/.test(argument))) return paceKeyOfHost(hostKeyOf(normal.url));
  throw new UsageError(`${JSON.stringify(shown(argument))} is neither a host name, host:port nor an http:// or https:// URL`);
}
