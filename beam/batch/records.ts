// How do elements lie in memory before they are grouped? As bytes, one behind the other in blocks, with their places in a list that can be sorted.

/**
 * A record: hash of the key, length of the key, length of the value, four bytes each, the lowest first; then key and value. Records are
 * sorted by the hash, then the key's bytes; those of one key stand as they came.
 */
const HEAD_BYTES = 12;

const BLOCK_BYTES_FIRST = 4096; // most bundles give little to each stage
/** As far as blocks grow; a larger record has a block of its own. */
const BLOCK_BYTES_MAX = 1 << 18;
/** Of a record, for its place and the sorting of it. */
const PLACE_BYTES = 16;
const PLACE_BITS = 21;
/** In one Records: a place and a hash of 32 bits have to fit into the 53 bits of a number. */
export const RECORDS_MAX = 2 ** PLACE_BITS;

/** Where a record begins. */
export interface Place {
  readonly block: Buffer;
  readonly at: number;
}

export class Records {
  #blocks: Buffer[] = [];
  /** Number of the block × BLOCK_BYTES_MAX + where it begins. */
  #starts = new Float64Array(64);
  #count = 0;
  #blockBytes = 0;
  /** In the last block. */
  #used = 0;

  get count(): number {
    return this.#count;
  }

  /** What it takes of memory. */
  get bytes(): number {
    return this.#blockBytes + this.#count * PLACE_BYTES;
  }

  /** At most RECORDS_MAX. Returns the bytes of the record. */
  add(key: string, value: Uint8Array): number {
    const most = HEAD_BYTES + key.length * 3 + value.length; // no UTF-16 unit has more bytes of UTF-8
    let block = this.#blocks.at(-1);
    if (block === undefined || this.#used + most > block.length) block = this.#newBlock(most);
    const at = this.#used;
    const keyBytes = key.length === 0 ? 0 : block.write(key, at + HEAD_BYTES);
    block.writeUInt32LE(hashOf(block, at + HEAD_BYTES, keyBytes), at);
    block.writeUInt32LE(keyBytes, at + 4);
    block.writeUInt32LE(value.length, at + 8);
    block.set(value, at + HEAD_BYTES + keyBytes);
    const size = HEAD_BYTES + keyBytes + value.length;
    this.#used += size;
    this.#note((this.#blocks.length - 1) * BLOCK_BYTES_MAX + at);
    return size;
  }

  /** Takes over all of another's, which is not used any more. Together they are RECORDS_MAX at most. */
  adopt(other: Records): void {
    const shift = this.#blocks.length * BLOCK_BYTES_MAX;
    for (const block of other.#blocks) this.#blocks.push(block);
    this.#used = other.#blocks.length > 0 ? other.#used : this.#used;
    this.#blockBytes += other.#blockBytes;
    for (let index = 0; index < other.#count; index++) this.#note(other.#starts[index]! + shift);
  }

  place(index: number): Place {
    const start = this.#starts[index]!;
    const block = Math.floor(start / BLOCK_BYTES_MAX);
    return { block: this.#blocks[block]!, at: start - block * BLOCK_BYTES_MAX };
  }

  /** The numbers of the records by hash, then key. */
  sorted(): Float64Array {
    const order = new Float64Array(this.#count);
    for (let index = 0; index < this.#count; index++) {
      const { block, at } = this.place(index);
      order[index] = block.readUInt32LE(at) * RECORDS_MAX + index;
    }
    order.sort();
    for (let from = 0; from < order.length; ) {
      const hash = Math.floor(order[from]! / RECORDS_MAX);
      let to = from;
      for (; to < order.length && Math.floor(order[to]! / RECORDS_MAX) === hash; to++) order[to]! -= hash * RECORDS_MAX;
      this.#sortKeys(order.subarray(from, to));
      from = to;
    }
    return order;
  }

  /** Of records of one hash, which nearly always are of one key. */
  #sortKeys(order: Float64Array): void {
    const first = this.place(order[0]!);
    const alike = order.every((index) => compareKeys(this.place(index), first) === 0);
    if (!alike) order.sort((one, other) => compareKeys(this.place(one), this.place(other)) || one - other);
  }

  #note(start: number): void {
    if (this.#count === this.#starts.length) {
      const larger = new Float64Array(this.#starts.length * 2);
      larger.set(this.#starts);
      this.#starts = larger;
    }
    this.#starts[this.#count++] = start;
  }

  #newBlock(size: number): Buffer {
    const grown = Math.min(BLOCK_BYTES_MAX, BLOCK_BYTES_FIRST * 2 ** Math.min(this.#blocks.length, PLACE_BITS));
    const block = Buffer.allocUnsafeSlow(Math.max(size, grown));
    this.#blocks.push(block);
    this.#blockBytes += block.length;
    this.#used = 0;
    return block;
  }
}

export function sizeOf({ block, at }: Place): number {
  return HEAD_BYTES + block.readUInt32LE(at + 4) + block.readUInt32LE(at + 8);
}

export function keyIn({ block, at }: Place): Buffer {
  return block.subarray(at + HEAD_BYTES, at + HEAD_BYTES + block.readUInt32LE(at + 4));
}

/** A view. */
export function valueIn({ block, at }: Place): Buffer {
  const from = at + HEAD_BYTES + block.readUInt32LE(at + 4);
  return block.subarray(from, from + block.readUInt32LE(at + 8));
}

/** By hash, then by the bytes of the key. */
export function compareRecords(one: Place, other: Place): number {
  const byHash = one.block.readUInt32LE(one.at) - other.block.readUInt32LE(other.at);
  return byHash === 0 ? compareKeys(one, other) : byHash;
}

/** Byte by byte: most keys are short, and Buffer.compare costs more than they do. */
function compareKeys(one: Place, other: Place): number {
  const [oneSize, otherSize] = [one.block.readUInt32LE(one.at + 4), other.block.readUInt32LE(other.at + 4)];
  const [from, otherFrom] = [one.at + HEAD_BYTES, other.at + HEAD_BYTES];
  const least = Math.min(oneSize, otherSize);
  for (let index = 0; index < least; index++) {
    const difference = one.block[from + index]! - other.block[otherFrom + index]!;
    if (difference !== 0) return difference;
  }
  return oneSize - otherSize;
}

/** Whether the two have one key. */
export function sameKey(one: Place, other: Place): boolean {
  return compareKeys(one, other) === 0;
}

/** FNV-1a of 32 bits. Who chooses keys of one hash gets them sorted by their bytes, no worse. */
function hashOf(block: Buffer, from: number, size: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < from + size; at++) hash = Math.imul(hash ^ block[at]!, 0x01000193);
  return hash >>> 0;
}
