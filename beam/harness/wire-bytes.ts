// How are Beam's coders and protobuf's fields laid out? Varints, lengths before bytes, big-endian words: one writer and one reader for both.

const BUFFER_BYTES = 1024;
/** A buffer that one large value made larger than this is not kept. */
const BUFFER_BYTES_KEPT = 4 * 1024 * 1024;
const VARINT_BYTES_MAX = 10;
const WORD = 2 ** 32;

/** The bytes say what cannot be. */
export class WireError extends Error {}

/** The bytes end before what they promise; more of them may come. */
export class WireCut extends WireError {}

export class WireWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(size = BUFFER_BYTES) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  /** A whole number from 0 to 2^53 - 1, base 128, low digits first. */
  uint(value: number): void {
    this.#room(VARINT_BYTES_MAX);
    let rest = value;
    for (; rest >= WORD; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) | 0x80;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#length++] = rest;
  }

  /** 64 bits of two's complement. */
  int64(value: bigint): void {
    this.#room(VARINT_BYTES_MAX);
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#length++] = Number(rest);
  }

  /** Four bytes, the highest first. */
  word(value: number): void {
    this.#room(4);
    this.#length = this.#bytes.writeUInt32BE(value, this.#length);
  }

  double(value: number): void {
    this.#room(8);
    this.#length = this.#bytes.writeDoubleBE(value, this.#length);
  }

  raw(value: Uint8Array): void {
    this.#room(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** With their number before them. */
  bytes(value: Uint8Array): void {
    this.uint(value.length);
    this.raw(value);
  }

  /** UTF-8, with the number of its bytes before it. */
  text(value: string): void {
    this.#room(VARINT_BYTES_MAX + value.length * 3); // no UTF-16 unit has more bytes of UTF-8
    if (value.length < 0x80) {
      const size = this.#bytes.write(value, this.#length + 1);
      if (size < 0x80) {
        this.#bytes[this.#length] = size;
        this.#length += 1 + size;
        return;
      }
    }
    this.uint(Buffer.byteLength(value));
    this.#length += this.#bytes.write(value, this.#length);
  }

  /** UTF-8 alone. */
  rawText(value: string): void {
    this.#room(value.length * 3);
    this.#length += this.#bytes.write(value, this.#length);
  }

  /** A copy of what was written; the writer is empty again and keeps its buffer. */
  take(): Buffer {
    const copy = Buffer.allocUnsafeSlow(this.#length);
    this.#bytes.copy(copy, 0, 0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > BUFFER_BYTES_KEPT) this.#bytes = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    return copy;
  }

  /** What was written itself; nothing is to be written any more. */
  end(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #room(extra: number): void {
    if (this.#length + extra <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#length + extra, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Every read throws WireError where the bytes do not reach. */
export class WireReader {
  readonly #bytes: Buffer;
  /** Of the next byte. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  byte(): number {
    return this.#bytes[this.#take(1)]!;
  }

  uint(): number {
    let value = 0;
    for (let scale = 1; scale <= 128 ** 7; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new WireError("a whole number is longer than 53 bits");
  }

  int64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new WireError("a whole number is longer than 64 bits");
  }

  word(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  double(): number {
    return this.#bytes.readDoubleBE(this.#take(8));
  }

  /** So many bytes, not copied. */
  view(size: number): Buffer {
    const from = this.#take(size);
    return this.#bytes.subarray(from, this.at);
  }

  /** From `from` to here, not copied. */
  viewFrom(from: number): Buffer {
    return this.#bytes.subarray(from, this.at);
  }

  /** Bytes with their number before them, not copied. */
  bytes(): Buffer {
    return this.view(this.uint());
  }

  text(): string {
    return this.rawText(this.uint());
  }

  rawText(size: number): string {
    const from = this.#take(size);
    return this.#bytes.toString("utf8", from, this.at);
  }

  skip(size: number): void {
    this.#take(size);
  }

  #take(size: number): number {
    if (size > this.left) throw new WireCut(`${size} bytes are asked for, ${this.left} are left`);
    this.at += size;
    return this.at - size;
  }
}
