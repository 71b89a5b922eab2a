// npm run replay: stored pages are parsed again, without the web.
import { say } from "./lib/command.ts";
import { runReplay } from "./lib/replay-tool.ts";

say(await runReplay(process.argv.slice(2), (line) => process.stderr.write(`${line}\n`)));
