// npm run build: dist/, JavaScript that runs every command and the worker's entry without TypeScript.
import { join } from "node:path";
import type { ParseArgsOptionsConfig } from "node:util";
import { build } from "../deploy/build.ts";
import { exitCodes } from "../exit-codes.ts";
import { runFlagsCommand } from "./command-line.ts";

const HELP = `Compiles the project into dist/, which runs without TypeScript: node dist/pipelines/commands/crawl.js, node dist/demo/run.js,
and node dist/pipelines/container/main.js, the entry of the worker's image. It needs package.json and node_modules beside it.

  npm run build

Exit codes: ${exitCodes.done} built, ${exitCodes.badUsage} bad usage, ${exitCodes.fault} the compiler failed.
`;

const flags = {} as const satisfies ParseArgsOptionsConfig;

process.exitCode = await runFlagsCommand({ name: "build", help: HELP, flags, run }, process.argv.slice(2));

async function run(): Promise<number> {
  const root = join(import.meta.dirname, "../..");
  const { copied } = build(root, join(root, "dist"));
  process.stdout.write(`dist/ is built, with ${copied} files that its code reads\n`);
  return exitCodes.done;
}
