// Which rows do the chunks of a ReadRows answer say? google.bigtable.v2.ReadRowsResponse: a row may come in pieces, or be taken back.

/** As the client's protobuf gives them; what is not set is null, empty or zero. */
export interface ReadChunk {
  rowKey?: Uint8Array | null;
  familyName?: object | null;
  value?: Uint8Array | null;
  resetRow?: boolean | null;
  commitRow?: boolean | null;
}

export interface StoredRow {
  key: Buffer;
  cell: Buffer;
}

export interface RowReader {
  /** Throws Error where the chunks are not of rows with one cell each, as ours are. */
  take(chunk: ReadChunk): void;
  /** The rows in order; undefined where the answer ended within one. */
  rows(): StoredRow[] | undefined;
}

export function rowReader(): RowReader {
  const rows: StoredRow[] = [];
  let open: { key: Buffer; parts: Uint8Array[] } | undefined;
  return {
    take({ rowKey, familyName, value, resetRow, commitRow }) {
      if (resetRow) {
        open = undefined;
        return;
      }
      const beginsCell = familyName !== null && familyName !== undefined;
      if (open === undefined) {
        if (!rowKey?.length || !beginsCell) throw new Error("a chunk of a row came before its first one");
        open = { key: Buffer.from(rowKey), parts: [] };
      } else if (beginsCell) throw new Error(`the row ${JSON.stringify(open.key.toString())} has more than one cell`);
      if (value?.length) open.parts.push(value);
      if (!commitRow) return;
      rows.push({ key: open.key, cell: Buffer.concat(open.parts) });
      open = undefined;
    },
    rows: () => (open === undefined ? rows : undefined),
  };
}
