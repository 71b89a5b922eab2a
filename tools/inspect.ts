// npm run inspect: what is known of one URL, and why is it not being fetched right now?
import { runTool, say } from "./lib/command.ts";
import { inspectTool } from "./lib/inspect-tool.ts";

say(await runTool(inspectTool, process.argv.slice(2)));
