// npm run hosts: an operator's orders about hosts, which a running crawl obeys.
import { say } from "./lib/command.ts";
import { runHosts } from "./lib/hosts-tool.ts";

say(await runHosts(process.argv.slice(2)));
