// How do rev and value stand in one cell of Bigtable? The rev first, behind a byte that says how it is written; then the value as it is.

/** What that byte can say; a rev of ours has 22 characters and takes 17 bytes with it. */
export const REV_BYTES_MAX = 126;

/** Below it: so many bytes of UTF-8. From it on: so many bytes of which the rev is the base64url. */
const PACKED = 128;

export interface CellContent {
  rev: string;
  value: Uint8Array;
}

/** A copy; undefined where the rev is too long to be kept. */
export function encodeCell({ rev, value }: CellContent): Buffer | undefined {
  const head = headOf(rev);
  return head && Buffer.concat([head, value]);
}

/** undefined where these are no bytes of ours. The value shares its memory with `cell`. */
export function decodeCell(cell: Buffer): CellContent | undefined {
  const kind = cell[0];
  if (kind === undefined) return undefined;
  const packed = kind >= PACKED;
  const end = 1 + (packed ? kind - PACKED : kind);
  if (cell.length < end) return undefined;
  return { rev: cell.toString(packed ? "base64url" : "utf8", 1, end), value: cell.subarray(end) };
}

/** Of all cells those with this rev, and no other, begin within it; undefined where no cell can have it. */
export function cellsWithRev(rev: string): { startValueClosed: Buffer; endValueOpen: Buffer } | undefined {
  const start = headOf(rev);
  if (start === undefined) return undefined;
  const last = start.findLastIndex((byte) => byte < 0xff); // the first one is: PACKED + REV_BYTES_MAX is less
  const end = Buffer.from(start.subarray(0, last + 1));
  end[last]! += 1;
  return { startValueClosed: start, endValueOpen: end };
}

/** One rev, one head: no head begins with another, since the first byte tells the length. */
function headOf(rev: string): Buffer | undefined {
  const packed = Buffer.from(rev, "base64url");
  const isPacked = packed.length > 0 && packed.toString("base64url") === rev;
  const bytes = isPacked ? packed : Buffer.from(rev);
  if (bytes.length > REV_BYTES_MAX) return undefined;
  return Buffer.concat([Uint8Array.of(bytes.length + (isPacked ? PACKED : 0)), bytes]);
}
