// Which of many patterns with `*` and a final `$` is the first to match the beginning of a text? RFC 9309 2.2.3, all of them at once.
//
// A pattern is cut at its stars. Its first part has to begin the text, the others have to follow one another anywhere behind it, so the
// leftmost place of each is the right one. One walk over the text finds all parts of all patterns (Aho and Corasick's automaton), and
// each pattern waits for its next part only: nobody's hundred thousand wildcards make the text be read again.
import { type Automaton, automatonOf, stepped } from "./automaton.ts";

export interface Globs {
  /** Those without a part to search for, in the order given. */
  plain: readonly Glob[];
  /** The others, by the length of their first parts. */
  searched: readonly Glob[];
  automaton: Automaton;
}

interface Glob {
  /** Its place in the order given. */
  index: number;
  first: string;
  /** Parts between first and last, by their number in the automaton. */
  parts: readonly number[];
  /** The part that ends the text, where the pattern has a star and a final `$`. */
  last: string | undefined;
  /** No star, and a final `$`. */
  whole: boolean;
}

/** Patterns strongest first: the first that matches is asked for. A `$` counts only at the end. ASCII alone. Linear. */
export function compileGlobs(patterns: readonly string[]): Globs {
  const numbers = new Map<string, number>();
  const numberOf = (part: string): number => {
    const number = numbers.get(part) ?? numbers.size;
    numbers.set(part, number);
    return number;
  };
  const globs = patterns.map((pattern, index) => globOf(pattern, index, numberOf));
  const searched = globs.filter(({ parts }) => parts.length > 0);
  return {
    plain: globs.filter(({ parts }) => parts.length === 0),
    searched: searched.sort((a, b) => a.first.length - b.first.length),
    automaton: automatonOf([...numbers.keys()]),
  };
}

/**
 * The index of the first pattern that matches, if it is below `below`; else `below`. `steps.count` grows by the work done, which is at
 * most in line with the patterns' length, and with the text's times the number of parts that end at one place (of 500 KiB a thousand).
 */
export function firstMatch(globs: Globs, text: string, below: number, steps = { count: 0 }): number {
  for (const glob of globs.plain) {
    if (glob.index >= below) break;
    steps.count += Math.min(glob.first.length, text.length) + 1;
    if (plainMatches(glob, text)) return search(globs, text, glob.index, steps);
  }
  return search(globs, text, below, steps);
}

function globOf(pattern: string, index: number, numberOf: (part: string) => number): Glob {
  const anchored = pattern.endsWith("$");
  const [first, ...rest] = (anchored ? pattern.slice(0, -1) : pattern).split("*") as [string, ...string[]];
  const last = anchored ? rest.pop() : undefined;
  const parts = rest.filter((part) => part !== "").map(numberOf);
  return { index, first, parts, last, whole: anchored && last === undefined };
}

function plainMatches({ first, last, whole }: Glob, text: string): boolean {
  if (whole) return text === first;
  return text.startsWith(first) && endsBehind(last, text, first.length);
}

function endsBehind(last: string | undefined, text: string, from: number): boolean {
  return last === undefined || (text.length - from >= last.length && text.endsWith(last));
}

/** Patterns that wait for their next part: a queue for each part, in the order of the places behind which it has to begin. */
interface Waiting {
  /** By part: who waits first and last, or -1. */
  heads: Int32Array;
  tails: Int32Array;
  /** By pattern: who waits behind it, from where its part may begin, and how many parts it has found. */
  nexts: Int32Array;
  from: Int32Array;
  found: Int32Array;
  count: number;
}

/** The least index of a searched pattern that matches, where it is below `below`; else `below`. */
function search({ searched, automaton }: Globs, text: string, below: number, steps: { count: number }): number {
  if (searched.length === 0) return below;
  const waiting = nobodyWaits(automaton.lengths.length, searched.length);
  let least = below;
  let begun = 0;
  let node = 0;
  for (let at = 0; at < text.length && (begun < searched.length || waiting.count > 0); at++) {
    for (; begun < searched.length && searched[begun]!.first.length === at; begun++) {
      const { index, first, parts } = searched[begun]!;
      steps.count += first.length + 1;
      if (index < least && text.startsWith(first)) wait(waiting, begun, parts[0]!, at);
    }
    node = stepped(automaton, node, text.charCodeAt(at));
    steps.count++;
    for (let word = automaton.ends[node]!; word > 0; word = automaton.ends[automaton.fails[word]!]!) {
      const part = automaton.words[word]!;
      const start = at + 1 - automaton.lengths[part]!;
      steps.count++;
      for (let who = served(waiting, part, start); who >= 0; who = served(waiting, part, start)) {
        steps.count++;
        const { index, parts, last } = searched[who]!;
        const found = ++waiting.found[who]!;
        if (index >= least) continue;
        if (found < parts.length) wait(waiting, who, parts[found]!, at + 1);
        else if (endsBehind(last, text, at + 1)) least = index;
      }
    }
  }
  return least;
}

function nobodyWaits(parts: number, patterns: number): Waiting {
  return {
    heads: new Int32Array(parts).fill(-1),
    tails: new Int32Array(parts),
    nexts: new Int32Array(patterns),
    from: new Int32Array(patterns),
    found: new Int32Array(patterns),
    count: 0,
  };
}

/** The search goes forward, so whoever comes later may be served later too. */
function wait(waiting: Waiting, who: number, part: number, from: number): void {
  if (waiting.heads[part]! < 0) waiting.heads[part] = who;
  else waiting.nexts[waiting.tails[part]!] = who;
  waiting.tails[part] = who;
  waiting.nexts[who] = -1;
  waiting.from[who] = from;
  waiting.count++;
}

/** Takes the first who waits for a part that begins at `start`, or gives -1. */
function served(waiting: Waiting, part: number, start: number): number {
  const who = waiting.heads[part]!;
  if (who < 0 || waiting.from[who]! > start) return -1;
  waiting.heads[part] = waiting.nexts[who]!;
  waiting.count--;
  return who;
}
