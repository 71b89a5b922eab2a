// npm run read: the complete output of a crawl as an index builder reads it: manifests verified, documents and captures one a line.
import { once } from "node:events";
import { exitCodes } from "../pipelines/exit-codes.ts";
import { runRead } from "./lib/read-tool.ts";

// A reader that has seen enough (| head) is no error.
process.stdout.on("error", () => process.exit(exitCodes.done));

const { code, stderr } = await runRead(process.argv.slice(2), async (text) => {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
});
process.stderr.write(stderr);
process.exitCode = code;
