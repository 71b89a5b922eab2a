// Do elements come where they should on each engine? Every output to its taker, flattened and spread ones once each, however large they are.
import { createHash } from "node:crypto";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { bytes } from "../../../schemas/codec.ts";
import { batches, each, keyedWord, sink, type Word, word, words } from "../../beam/lib.ts";
import type { Case } from "./case.ts";

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => String(from + index));

const tagged: Case = {
  name: "each output of a DoFn goes to those that take it, and one that nobody takes to nobody",
  expected: ["odd 1", "odd 3", "even 0", "even 2", "even again 0", "even again 2"],
  make(tell) {
    const source = batches("tagged-words", word, [{ values: words(...numbers(0, 4)), waitMs: 1000 }]);
    const outputs = { odd: word, even: word, all: word };
    const parting: DoFnDefinition<Word, typeof outputs, object, unknown> = {
      ...{ form: "each", name: "tagged-parting", input: word, outputs },
      make: () => ({
        process(one, context) {
          context.emit(Number(one.word) % 2 === 1 ? "odd" : "even", one);
          context.emit("all", one);
        },
      }),
    };
    const into = (name: string) => sink(`tagged-${name}`, word, (one: Word) => tell(`${name} ${one.word}`));
    const [odd, even, again] = [into("odd"), into("even"), into("even again")];
    return {
      definitions: [source, parting, odd, even, again],
      build(p) {
        const parted = p.each("Part", parting, {}, p.source("Source", source, {}).out);
        p.each("Odd", odd, {}, parted.odd);
        p.each("Even", even, {}, parted.even);
        p.each("Again", again, {}, p.reshuffle("Spread", parted.even));
      },
    };
  },
};

const flattened: Case = {
  name: "a flatten gives all that each of its collections gives, once",
  expected: ["0", "1", "2", "3", "0!", "1!"],
  make(tell) {
    const first = batches("flat-first", word, [{ values: words("0", "1"), waitMs: 1000 }]);
    const second = batches("flat-second", word, [
      { values: words("2"), waitMs: 1000 },
      { values: words("3"), waitMs: 1000 },
    ]);
    const shout = each("flat-shout", { in: word, out: word }, (one: Word, emit) => emit({ word: `${one.word}!` }));
    const told = sink("flat-told", word, (one: Word) => tell(one.word));
    return {
      definitions: [first, second, shout, told],
      build(p) {
        const given = p.source("First", first, {}).out;
        const shouted = p.each("Shout", shout, {}, given);
        p.each("Told", told, {}, p.flatten("All", given, p.source("Second", second, {}).out, shouted.out));
      },
    };
  },
};

const SPREAD = 500;

const spread: Case = {
  name: "a reshuffle gives all that comes, once, with and without keys",
  expected: numbers(0, SPREAD).flatMap((one) => [`plain ${one}`, `key-${one} keyed`]),
  make(tell) {
    const source = batches("spread-words", word, [{ values: words(...numbers(0, SPREAD)), waitMs: 1000 }]);
    const keys = each("spread-keys", { in: word, out: keyedWord }, (one: Word, emit) =>
      emit({ key: `key-${one.word}`, value: { word: "keyed" } }),
    );
    const plain = sink("spread-plain", word, (one: Word) => tell(`plain ${one.word}`));
    const keyed = sink("spread-keyed", keyedWord, ({ key, value }) => tell(`${key} ${value.word}`));
    return {
      definitions: [source, keys, plain, keyed],
      build(p) {
        const given = p.source("Source", source, {}).out;
        p.each("Plain", plain, {}, p.reshuffle("Spread", given));
        p.each("Keyed", keyed, {}, p.reshuffle("SpreadKeyed", p.each("Keys", keys, {}, given).out));
      },
    };
  },
};

const MEGABYTE = 1024 * 1024;
/** Together as much as may wait in the harness's inboxes. */
const LARGE = 32;

const largeElements: Case = {
  name: "elements of a megabyte, thirty-two in a bundle and one of eight megabytes, come whole",
  expected: [...numbers(0, LARGE).map((one) => told(large(Number(one), MEGABYTE))), told(large(LARGE, 8 * MEGABYTE))],
  make(tell) {
    const source = batches("large-bytes", bytes, [
      { values: numbers(0, LARGE).map((one) => large(Number(one), MEGABYTE)), waitMs: 1000 },
      { values: [large(LARGE, 8 * MEGABYTE)], waitMs: 1000 },
    ]);
    const into = sink("large-told", bytes, (one: Uint8Array) => tell(told(one)));
    return {
      definitions: [source, into],
      build: (p) => void p.each("Told", into, {}, p.reshuffle("Spread", p.source("Source", source, {}).out)),
    };
  },
};

export const flowCases: readonly Case[] = [tagged, flattened, spread, largeElements];

function large(number: number, size: number): Uint8Array {
  return new Uint8Array(Buffer.alloc(size, `element ${number} `));
}

function told(value: Uint8Array): string {
  return `${value.length} bytes ${createHash("sha256").update(value).digest("hex").slice(0, 12)}`;
}
