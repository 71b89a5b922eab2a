// How are small values copied at a quarter of the cost of an array each? Many of them share one slab of memory.

const SLAB_BYTES = 64 * 1024; // a row that outlives its neighbours holds no more than this

const NOTHING = new Uint8Array(); // has no bytes that anybody could change

let slab = new Uint8Array(SLAB_BYTES);
let used = 0;

/** Bytes that whoever gave or gets the others cannot change. */
export function pooledCopy(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return NOTHING; // as every row of the due index has it
  if (bytes.length > SLAB_BYTES / 8) return new Uint8Array(bytes);
  if (used + bytes.length > SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  slab.set(bytes, used);
  const copy = new Uint8Array(slab.buffer, used, bytes.length);
  used += bytes.length;
  return copy;
}
