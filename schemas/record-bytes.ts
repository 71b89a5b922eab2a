// Where do the bytes of a record stand while it is written or read? In a buffer that every record uses in turn.

/** The bytes are not a record of this shape and version. */
export class CodecError extends Error {}

const BUFFER_BYTES = 4096; // most records are a tenth of it
const BUFFER_BYTES_MAX = 1 << 20; // a buffer that one large record made larger than this is not kept
const COPIED_BYTES = 32; // of a hash at most: to copy them one by one is faster than a view of them
const SHORT_TEXT = 40; // bytes of a text that is cut from its whole record instead, which then stays with it: ids, host names
const VARINT_BYTES_MAX = 8; // 8 of 7 bits hold 2^53 - 1
const LOW_BITS = 28; // of a varint: four bytes
const LOW = 2 ** LOW_BITS;

/** Bytes written so far; grows by doubling. */
export class Writer {
  /** Where the record will stand, "" where that is not known: what the row key says a codec may leave out. */
  key = "";
  #bytes = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #length = 0;

  begin(key: string): void {
    this.key = key;
    this.#length = 0;
    if (this.#bytes.length > BUFFER_BYTES_MAX) this.#bytes = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  }

  /** A whole number from 0 to 2^53 - 1 as a base-128 varint. */
  uint(value: number): void {
    if (this.#length + VARINT_BYTES_MAX > this.#bytes.length) this.#grow(VARINT_BYTES_MAX);
    if (value >= 0 && value < 0x80) this.#bytes[this.#length++] = value;
    else this.#longUint(value);
  }

  /** The bytes with their number before them. */
  bytes(value: Uint8Array): void {
    this.uint(value.length);
    this.raw(value);
  }

  /** The bytes alone. */
  raw(value: Uint8Array): void {
    if (this.#length + value.length > this.#bytes.length) this.#grow(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** UTF-8, with the number of its bytes before it. */
  text(value: string): void {
    const most = value.length * 3; // no UTF-16 unit has more bytes of UTF-8
    if (this.#length + VARINT_BYTES_MAX + most > this.#bytes.length) this.#grow(VARINT_BYTES_MAX + most);
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

  /** The bytes that whole groups of base64url digits say (RFC 4648 5), with their number before them. False where `value` is no such text. */
  base64(value: string): boolean {
    if (value.length === 0 || value.length % 4 !== 0) return false;
    const start = this.#length;
    const size = (value.length / 4) * 3;
    this.uint(size);
    if (this.#length + size > this.#bytes.length) this.#grow(size);
    for (let at = 0; at < value.length; at += 4) {
      const group =
        (digit(value, at) << 18) | (digit(value, at + 1) << 12) | (digit(value, at + 2) << 6) | digit(value, at + 3);
      if (group < 0) {
        this.#length = start;
        return false;
      }
      this.#bytes[this.#length++] = group >>> 16;
      this.#bytes[this.#length++] = (group >>> 8) & 0xff;
      this.#bytes[this.#length++] = group & 0xff;
    }
    return true;
  }

  /** A copy of what was written. */
  finish(): Uint8Array {
    const copy = Buffer.allocUnsafe(this.#length);
    this.#bytes.copy(copy, 0, 0, this.#length);
    return copy;
  }

  #longUint(value: number): void {
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER))
      throw new CodecError(`${value} is no whole number from 0 to 2^53 - 1`);
    let rest = value;
    if (value >= LOW) {
      let low = value % LOW;
      for (let byte = 0; byte < LOW_BITS / 7; byte++) {
        this.#bytes[this.#length++] = (low & 0x7f) | 0x80;
        low >>>= 7;
      }
      rest = Math.floor(value / LOW); // less than 2^25
    }
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#length++] = rest;
  }

  #grow(extra: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#length + extra, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Reads what Writer wrote. Throws CodecError where the bytes end early or do not fit. */
export class Reader {
  /** As the writer's. */
  key = "";
  #own = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #bytes: Buffer = this.#own;
  #at = 0;
  #end = 0;
  /** The whole record as latin1, once it was asked for. */
  #whole: string | undefined;

  /** To copy a small record into a buffer that is there costs a third of a view of its bytes. */
  begin(bytes: Uint8Array, key: string): void {
    this.key = key;
    this.#at = 0;
    this.#end = bytes.length;
    if (bytes.length <= BUFFER_BYTES) {
      this.#bytes = this.#own;
      this.#bytes.set(bytes);
    } else this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Whether all was read. */
  finish(): boolean {
    this.#bytes = this.#own;
    this.#whole = undefined;
    return this.#at === this.#end;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  uint(): number {
    const byte = this.#at < this.#end ? this.#bytes[this.#at]! : 0x80;
    if (byte >= 0x80) return this.#longUint();
    this.#at++;
    return byte;
  }

  /** A copy. */
  bytes(): Uint8Array {
    return this.raw(this.uint());
  }

  raw(size: number): Uint8Array {
    const from = this.#take(size);
    const copy = new Uint8Array(size);
    if (size > COPIED_BYTES) copy.set(this.#bytes.subarray(from, this.#at));
    else for (let at = 0; at < size; at++) copy[at] = this.#bytes[from + at]!;
    return copy;
  }

  text(): string {
    const from = this.#take(this.uint());
    const short = this.#at - from <= SHORT_TEXT && this.#end <= BUFFER_BYTES;
    if (!short || !this.#isAscii(from)) return this.#bytes.toString("utf8", from, this.#at);
    this.#whole ??= this.#bytes.toString("latin1", 0, this.#end);
    return this.#whole.substring(from, this.#at);
  }

  /** So many bytes as base64url. */
  base64(size: number): string {
    const from = this.#take(size);
    return this.#bytes.toString("base64url", from, this.#at);
  }

  #isAscii(from: number): boolean {
    let seen = 0;
    for (let at = from; at < this.#at; at++) seen |= this.#bytes[at]!;
    return seen < 0x80;
  }

  #longUint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < VARINT_BYTES_MAX && this.#at < this.#end; count++) {
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw new CodecError("a whole number is cut short or too long");
  }

  #take(size: number): number {
    if (size > this.#end - this.#at) throw new CodecError(`${size} bytes are asked for, ${this.#end - this.#at} are left`);
    this.#at += size;
    return this.#at - size;
  }
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const DIGIT_OF = Int8Array.from({ length: 128 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)));

/** 0 to 63, or -1, which keeps its sign however it is shifted. */
function digit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? DIGIT_OF[code]! : -1;
}
