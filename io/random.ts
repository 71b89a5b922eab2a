// Where does chance come from? From the system's generator, or, for a run that can be repeated, from a seed.
import { createHash, randomFillSync } from "node:crypto";
import type { Random } from "../ports/random.ts";

const POOL_BYTES = 4096; // drawn from the system at once; a call of its own costs some ten times a draw from the pool
const TOKEN_BYTES = 16;
const MANTISSA_STEPS = 2 ** 53; // numbers that next() can give, evenly spaced

/** Cannot be foreseen, as tokens must not be. */
export function systemRandom(): Random {
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  const take = (size: number): number => {
    if (used + size > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += size;
    return used - size;
  };
  return {
    next() {
      const at = take(8);
      return toUnit(pool.readUInt32LE(at), pool.readUInt32LE(at + 4));
    },
    token() {
      const at = take(TOKEN_BYTES);
      return pool.toString("base64url", at, at + TOKEN_BYTES);
    },
  };
}

/** The same draws for the same seed, everywhere. */
export function seededRandom(seed: number | string): Random {
  const draw = xoshiro128(
    createHash("sha256")
      .update(`${typeof seed}:${seed}`)
      .digest(),
  );
  const bytes = Buffer.alloc(TOKEN_BYTES);
  return {
    next: () => toUnit(draw(), draw()),
    token() {
      for (let at = 0; at < TOKEN_BYTES; at += 4) bytes.writeUInt32LE(draw(), at);
      return bytes.toString("base64url");
    },
  };
}

/** 53 of 64 random bits as a fraction. */
function toUnit(high: number, low: number): number {
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / MANTISSA_STEPS;
}

/**
 * xoshiro128** 1.1 of Blackman and Vigna (https://prng.di.unimi.it/), period 2^128 - 1. Whole numbers from 0 to 2^32 - 1. The state is the
 * first 16 bytes of `seed`, little-endian, not all of them zero.
 */
export function xoshiro128(seed: Buffer): () => number {
  let a = seed.readInt32LE(0);
  let b = seed.readInt32LE(4);
  let c = seed.readInt32LE(8);
  let d = seed.readInt32LE(12);
  return () => {
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotated(d, 11);
    return result;
  };
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
