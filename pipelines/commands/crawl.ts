// npm run crawl: one crawl, on whichever engine. What is here loads at once; all else only when the flags are known to be good.
import { enableCompileCache, findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/**
 * Compiled code is kept beside the packages, where only who may change those may write; where nothing can be written, nothing is kept.
 * Threads and processes learn of the folder by the environment. NODE_COMPILE_CACHE of the caller wins, NODE_DISABLE_COMPILE_CACHE too.
 */
function keepCompiledCode(): void {
  const project = findPackageJSON("..", import.meta.url);
  if (project === undefined) return;
  const folder = join(dirname(project), "node_modules/.cache/gleaner");
  if (enableCompileCache(folder).directory !== undefined) process.env.NODE_COMPILE_CACHE ??= folder;
}

keepCompiledCode();
const { crawlCommand } = await import("./crawl-command.ts");
process.exitCode = await crawlCommand(process.argv.slice(2));
