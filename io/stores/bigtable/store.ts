// Where does a crawl in the cloud keep its records? In tables of one Bigtable instance that share a prefix, one for each kind of record.
import type { VersionedTable } from "../../../ports/versioned-table.ts";
import { type BigtableOptions, bigtableCalls } from "./calls.ts";
import { checkCredentials } from "./client.ts";
import { type BigtableMeta, bigtableMeta, checkFormat, META_TABLE } from "./meta.ts";
import { bigtableTable } from "./table.ts";

export interface BigtableStore {
  /** One of the tables it was opened with. */
  table(name: string): VersionedTable;
  /** Facts about the crawl itself; durable as rows are. */
  meta: BigtableMeta;
}

/**
 * The tables that setUpBigtable() made, whoever else uses them: there is no lock. Rejects with StoreError: not set up, of another
 * version, no credentials, not allowed, out of reach; nothing is written then. The client stays its maker's to close.
 */
export async function openBigtableStore(options: BigtableOptions & { tables: readonly string[] }): Promise<BigtableStore> {
  const place = bigtableCalls(options).place(META_TABLE);
  await checkCredentials(options.client, place);
  const meta = bigtableTable({ ...options, table: META_TABLE });
  await checkFormat(meta, place);
  const opened = new Map(options.tables.map((table) => [table, bigtableTable({ ...options, table })]));
  return {
    table(name) {
      const found = opened.get(name);
      if (found !== undefined) return found;
      throw new Error(`'${name}' is none of ${[...opened.keys()].join(", ")}, which this store was opened with`);
    },
    meta: bigtableMeta(meta),
  };
}
