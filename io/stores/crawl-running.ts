// Does a crawl run on this data folder at this moment? For tools, which read either way.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/**
 * A crawl holds an exclusive lock on lock.sqlite for as long as its process lives; whoever cannot read that file has met one. Looking
 * takes a shared lock for some microseconds. undefined: it cannot be told.
 */
export function crawlRunning(folder: string): boolean | undefined {
  const file = join(folder, "lock.sqlite");
  if (!existsSync(file)) return false;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
    database.prepare("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return (error as { errcode?: number }).errcode === SQLITE_BUSY ? true : undefined;
  } finally {
    database?.close();
  }
}
