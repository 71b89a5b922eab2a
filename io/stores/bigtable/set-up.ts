// How do the tables of a crawl come to be? Each with its column family, what is collected in it, and its first tablets; again changes nothing.
import type { StoreError } from "../../../ports/versioned-table.ts";
import { limits } from "../../../schemas/limits.ts";
import { shardPrefix } from "../../../schemas/row-key.ts";
import { type AdminMethod, type BigtableOptions, bigtableCalls, type Calls, instanceName, tableId } from "./calls.ts";
import { checkCredentials } from "./client.ts";
import { bigtableTrouble, codeOf, status } from "./faults.ts";
import { META_TABLE, writeFormat } from "./meta.ts";
import { repeated } from "./repeat.ts";
import { bigtableTable } from "./table.ts";
import { FAMILY } from "./writes.ts";

/** Making a table takes seconds, more while another is made. */
const ADMIN_MS = 60_000;
const ADMIN_TRIES = 6;
const ADMIN_PAUSES = 20; // times as long as between calls on rows: half a second, then one, two, four, eight

/** One cell is all that a row ever has; the rule removes nothing, and says so to who reads it. */
const COLLECTED = { maxNumVersions: 1 };

export type TableSetUp = "made" | "changed" | "stood";

/**
 * Makes what is missing of the tables, and the one for meta; may run twice, or twice at once. What was done for each, by its name in
 * Bigtable. Rejects with StoreError, also where they stand and are of another version.
 */
export async function setUpBigtable(
  options: BigtableOptions & { tables: readonly string[] },
): Promise<Record<string, TableSetUp>> {
  const calls = bigtableCalls(options);
  const metaPlace = calls.place(META_TABLE);
  await checkCredentials(options.client, metaPlace);
  const done: Record<string, TableSetUp> = {};
  // One after another: the service limits how many are made at once.
  for (const table of [...options.tables, META_TABLE]) {
    done[tableId(options.tablePrefix, table)] = await setUpTable(options, calls, table);
  }
  await writeFormat(bigtableTable({ ...options, table: META_TABLE }), metaPlace);
  return done;
}

async function setUpTable(options: BigtableOptions, calls: Calls, table: string): Promise<TableSetUp> {
  const id = tableId(options.tablePrefix, table);
  const parent = instanceName(options);
  const name = `${parent}/tables/${id}`;
  const ask = adminOf(calls, table);
  const made = await ask("createTable", {
    parent,
    tableId: id,
    table: { columnFamilies: { [FAMILY]: { gcRule: COLLECTED } } },
    initialSplits: firstSplits(table).map((key) => ({ key: Buffer.from(key) })),
  });
  if (made !== "stands") return "made";
  const { columnFamilies } = (await ask("getTable", { name, view: "SCHEMA_VIEW" })) as TableSchema;
  const family = columnFamilies?.[FAMILY];
  if (family?.gcRule?.maxNumVersions === COLLECTED.maxNumVersions) return "stood";
  const change = family === undefined ? "create" : "update";
  // Made meanwhile by another is as good.
  await ask("modifyColumnFamilies", { name, modifications: [{ id: FAMILY, [change]: { gcRule: COLLECTED } }] });
  return "changed";
}

interface TableSchema {
  columnFamilies?: Record<string, { gcRule?: { maxNumVersions?: number } | null }>;
}

/** An administrator's call; `stands` where what it would make is there. Rejects with StoreError. */
function adminOf(calls: Calls, table: string): (method: AdminMethod, request: object) => Promise<unknown> {
  const patience = {
    callMs: ADMIN_MS,
    operationMs: ADMIN_MS,
    pauseMs: calls.patience.pauseMs * ADMIN_PAUSES,
    tries: ADMIN_TRIES,
  };
  return async (method, request) => {
    try {
      return await repeated(patience, (timeoutMs) => calls.administer(method, request, timeoutMs));
    } catch (error) {
      if (codeOf(error) === status.alreadyExists) return "stands";
      throw trouble(error);
    }
  };

  function trouble(error: unknown): StoreError {
    return bigtableTrouble(error, calls.place(table));
  }
}

/**
 * Where a new table is cut, so that a crawl's first day has more than one tablet: keys are led by two hex digits that spread the hosts
 * evenly (schemas/row-key.ts; content by its hash), those of host_due by their shard. Bigtable cuts further as it fills.
 */
export function firstSplits(table: string): string[] {
  if (table === META_TABLE) return [];
  if (table === "host_due") return Array.from({ length: limits.sweepShards - 1 }, (_, shard) => shardPrefix(shard + 1));
  return [..."123456789abcdef"];
}
