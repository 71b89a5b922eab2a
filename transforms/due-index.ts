// The due index and HostDue as the transforms write them: entries are keys without content, a host's next due time only ever falls here.
import type { RecordTable } from "../ports/versioned-table.ts";
import type { HostDue } from "../schemas/host-state.ts";
import { limits } from "../schemas/limits.ts";
import { type DueEntry, dueKey, hostDueKey, type RowKey } from "../schemas/row-key.ts";
import type { CrawlServices } from "./services.ts";

const NOTHING = new Uint8Array();
/** Nothing ever compares an entry: it stands or it does not. */
const NO_REV = "";

/** A repeat is harmless: the key follows from the record alone. */
export async function putDue({ tables }: Pick<CrawlServices, "tables">, entries: readonly DueEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await tables.due.put(entries.map((entry) => ({ key: dueKey(entry), rev: NO_REV, value: NOTHING })));
}

export async function dropDue({ tables }: Pick<CrawlServices, "tables">, keys: readonly RowKey[]): Promise<void> {
  if (keys.length > 0) await tables.due.drop(keys);
}

/** After it the sweep of the host's shard finds the host at `dueAt` or before. */
export async function lowerHostDue(table: RecordTable<HostDue>, paceKey: string, shards: number, dueAt: number): Promise<void> {
  const key = hostDueKey(paceKey, shards);
  for (let round = 0; round < limits.casTries; round++) {
    const [row] = await table.get([key]);
    if (row !== undefined && row.value.nextDueAt <= dueAt) return;
    const record = { nextDueAt: dueAt };
    if (row === undefined) {
      const [inserted] = await table.insertIfAbsent([{ key, value: record }]);
      if (inserted) return;
    } else if ((await table.compareAndSet(key, record, row.rev)) !== undefined) return;
  }
  throw new Error(`the due time of ${paceKey} was written by others ${limits.casTries} times in a row`);
}
