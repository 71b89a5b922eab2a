// Where does the demo keep its crawl? In a folder that is empty, or that an earlier demo marked as its own and may be wiped.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crawlRunning } from "../io/stores/crawl-running.ts";

const MARK = ".gleaner-demo";

/** What is wrong with the folder, in one line; undefined: it is empty now, but for the mark. */
export function freshFolder(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    const names = readdirSync(folder);
    if (names.length > 0 && !existsSync(join(folder, MARK)))
      return `${folder} holds something that is not an earlier demo's: name another folder, or an empty one`;
    if (crawlRunning(folder) === true)
      return `${folder} is in use by another process: wait until it ends, or name another folder`;
    writeFileSync(join(folder, MARK), "The demo of Gleaner made this folder, and wipes it when it is run again.\n");
    for (const name of names) if (name !== MARK) rmSync(join(folder, name), { recursive: true, force: true });
    return undefined;
  } catch (error) {
    return `${folder} cannot be used: ${(error as Error).message}`;
  }
}
