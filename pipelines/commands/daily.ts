// npm run daily: what is done once a day is over, over the records and files of a crawl, whether it runs or not.

import { dailyFlags, dailyHelp } from "../daily/daily-options.ts";
import { runFlagsCommand } from "./command-line.ts";
import { runDailyCommand } from "./run-daily-command.ts";

// Who reads the report may have seen enough (| head): the work goes on.
process.stdout.on("error", () => {});

process.exitCode = await runFlagsCommand(
  { name: "daily", help: dailyHelp, flags: dailyFlags, run: runDailyCommand },
  process.argv.slice(2),
);
