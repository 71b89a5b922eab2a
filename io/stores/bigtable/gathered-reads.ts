// How do callers share a read? The keys that are asked for in one turn of the event loop go together.
import type { Row } from "../../../ports/versioned-table.ts";
import type { RowKey } from "../../../schemas/row-key.ts";

/** The rows that stand, by key; those of others may be among them. Rejects with what the read rejects with, for all who share it. */
export function gatheredReads(
  read: (rowKeys: Buffer[]) => Promise<Row[]>,
): (wanted: ReadonlyMap<RowKey, Buffer>) => Promise<ReadonlyMap<RowKey, Row>> {
  let open: { wanted: Map<RowKey, Buffer>; found: Promise<Map<RowKey, Row>> } | undefined;
  const gather = (): NonNullable<typeof open> => {
    const wanted = new Map<RowKey, Buffer>();
    const found = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      open = undefined;
      return new Map((await read([...wanted.values()])).map((row) => [row.key, row]));
    });
    return { wanted, found };
  };
  return (wanted) => {
    open ??= gather();
    for (const [key, bytes] of wanted) open.wanted.set(key, bytes);
    return open.found;
  };
}
