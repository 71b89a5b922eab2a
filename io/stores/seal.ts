// Is a stored value the one that was written? SQLite checks its own pages' shape, not the bytes of our values: a checksum goes with each.
import { crc32 } from "node:zlib";

/** The value with the checksum of the texts that belong to it and of itself. */
export function sealed(value: Uint8Array, ...texts: readonly string[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(value.length + SEAL_BYTES);
  bytes.set(value);
  bytes.writeUInt32LE(sumOf(value, texts), value.length);
  return bytes;
}

/** The value without its checksum, or undefined where it is not the one that was sealed with these texts. */
export function unsealed(stored: Uint8Array, ...texts: readonly string[]): Uint8Array | undefined {
  const length = stored.length - SEAL_BYTES;
  if (length < 0) return undefined;
  const sum = new DataView(stored.buffer, stored.byteOffset + length, SEAL_BYTES).getUint32(0, true);
  return sum === sumOf(stored.subarray(0, length), texts) ? stored.slice(0, length) : undefined;
}

const SEAL_BYTES = 4;

function sumOf(value: Uint8Array, texts: readonly string[]): number {
  return crc32(
    value,
    texts.reduce((sum, text) => crc32(text, sum), texts.length),
  );
}
