// npm run explain: one verdict on why a host is, or is not, being fetched, and its evidence.
import { runTool, say } from "./lib/command.ts";
import { explainTool } from "./lib/explain-tool.ts";

say(await runTool(explainTool, process.argv.slice(2)));
