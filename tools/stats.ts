// npm run stats: SQL over the events of a crawl, for analysts.
import { once } from "node:events";
import { exitCodes } from "../pipelines/exit-codes.ts";
import { runStats } from "./lib/stats-tool.ts";

// A reader that has seen enough (| head) is no error.
process.stdout.on("error", () => process.exit(exitCodes.done));

const { code, stderr } = await runStats(process.argv.slice(2), async (text) => {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
});
process.stderr.write(stderr);
process.exitCode = code;
