// One seed decides all: streams of numbers that do not disturb each other, and functions of a key that are the same whenever asked.
import { seededRandom } from "../../io/random.ts";
import type { Random } from "../../ports/random.ts";

export interface Chance extends Random {
  /** True with this probability. */
  flip(probability: number): boolean;
  /** A whole number from `min` to `max`. */
  whole(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Its own stream for each purpose: more draws of one do not change another's. */
export function chance(seed: number, purpose: string): Chance {
  const random = seededRandom(`${seed} ${purpose}`);
  const whole = (min: number, max: number): number => min + Math.floor(random.next() * (max - min + 1));
  return {
    next: () => random.next(),
    token: () => random.token(),
    flip: (probability) => random.next() < probability,
    whole,
    pick: (items) => items[whole(0, items.length - 1)]!,
  };
}

/** A number from 0 to 2^32 - 1 that follows from the numbers alone (murmur3's finalizer over each). */
export function hashOf(...numbers: number[]): number {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number >>> 0), 0x85ebca6b);
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** From 0 to 1. */
export function shareOf(...numbers: number[]): number {
  return hashOf(...numbers) / 2 ** 32;
}

/** 32 bits of FNV-1a, stirred (murmur3's end) so that any of the bits will do. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
