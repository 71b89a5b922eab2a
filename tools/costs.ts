// npm run costs: what a day and a million pages cost in Google Cloud.
import { say } from "./lib/command.ts";
import { runCosts } from "./lib/costs/tool.ts";

say(runCosts(process.argv.slice(2)));
