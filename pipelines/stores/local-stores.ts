// A data directory: records and queues in one SQLite file, everything else in files, for one process at a time.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileArchive } from "../../io/objects/archive-files.ts";
import { fileEvents } from "../../io/objects/events-files.ts";
import { realFiles } from "../../io/objects/file-layer.ts";
import { type FileLinesOptions, fileLines } from "../../io/objects/lines-files.ts";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import { openSqliteStore, type SqliteStore } from "../../io/stores/sqlite-store.ts";
import { ordersIn } from "../orders.ts";
import { durableQueueNames, type RawTables, tableNames } from "../worker.ts";
import type { CrawlMeta, CrawlStores, StoresContext } from "./crawl-stores.ts";

export interface LocalPlace {
  folder: string;
  durability: "power" | "process";
}

/** Opens or makes the folder, and repairs what an earlier run left. Rejects with StoreError; nothing is written then. */
export async function openLocalStores({ folder, durability }: LocalPlace, context: StoresContext): Promise<CrawlStores> {
  const records = await openRecords({ folder, durability });
  try {
    return { ...records, ...(await openOutputs({ folder, durability }, context)), archive: await openArchive() };
  } catch (error) {
    await records.close();
    throw error;
  }

  function openArchive() {
    const { warcinfo } = context;
    return fileArchive({ ...filesOf(durability, context), folder: join(folder, "pages"), warcinfo });
  }
}

export type Records = Omit<CrawlStores, "archive" | "documents" | "events">;

/** The folder's records and queues alone, for this process alone. */
export async function openRecords({ folder, durability }: LocalPlace): Promise<Records> {
  const store = await openSqliteStore({ folder, tables: tableNames, queues: durableQueueNames, durability });
  return {
    tables: Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables,
    queues: { discover: store.queue("discover"), reparse: store.queue("reparse"), host: memoryQueue() },
    meta: metaOf(store),
    orders: ordersIn(folder),
    output: { pages: `${folder}/pages`, documents: `${folder}/documents`, events: `${folder}/events` },
    durability,
    clockSkewMs: 0, // one process, which counts monotonic time
    settleMs: 0, // the queues are this process's own
    close: () => store.close(),
  };
}

/** Nobody else raises it: one process owns the folder. */
function metaOf({ meta }: Pick<SqliteStore, "meta">): CrawlMeta {
  return {
    ...meta,
    async raise(name) {
      const next = Number((await meta.get(name)) ?? "0") + 1;
      await meta.set(name, String(next));
      return next;
    },
  };
}

export async function openOutputs({ folder, durability }: LocalPlace, context: Omit<StoresContext, "warcinfo">) {
  const files = filesOf(durability, context);
  const documents = await fileLines({ ...files, folder: join(folder, "documents"), gzip: true });
  const events = await fileEvents({ ...files, folder: join(folder, "events") });
  return { documents, events };
}

function filesOf(durability: LocalPlace["durability"], { clock, random, log }: Omit<StoresContext, "warcinfo">) {
  const files: Pick<FileLinesOptions, "files" | "clock" | "random" | "durability" | "log"> = {
    files: realFiles,
    clock,
    random,
    durability,
    log,
  };
  return files;
}

/** Whether a crawl has been made in this folder; whether it can be opened is another question. */
export function hasCrawl(folder: string): boolean {
  return existsSync(join(folder, "state.sqlite"));
}
