// To which key group would Flink give a pace key? As Beam's Flink runner encodes keys and Flink's KeyGroupRangeAssignment hashes them.

/** The nested UTF-8 coder writes the length as a varint, then the bytes; Java's ByteBuffer.hashCode; MathUtils.murmurHash; the remainder. */
export function keyGroup(key: string, groups: number): number {
  return murmur(bufferHash(encoded(key))) % groups;
}

function encoded(key: string): Uint8Array {
  const bytes = Buffer.from(key);
  const length: number[] = [];
  for (let rest = bytes.length; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.from([...length, rest, ...bytes]);
    length.push((rest & 0x7f) | 0x80);
  }
}

/** java.nio.ByteBuffer.hashCode: from the last byte to the first, bytes with their sign. */
function bufferHash(bytes: Uint8Array): number {
  let hash = 1;
  for (let at = bytes.length - 1; at >= 0; at--) hash = (Math.imul(31, hash) + ((bytes[at]! << 24) >> 24)) | 0;
  return hash;
}

/** Murmur3 of one 32-bit word with seed 0 and length 4, its absolute value (Flink's MathUtils.murmurHash). */
function murmur(word: number): number {
  let hash = Math.imul(word, 0xcc9e2d51);
  hash = rotated(hash, 15);
  hash = Math.imul(hash, 0x1b873593);
  hash = rotated(hash, 13);
  hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  hash ^= 4;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash === -(2 ** 31) ? 0 : Math.abs(hash);
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
