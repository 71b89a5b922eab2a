// Does a pattern with `*` and a final `$` match the beginning of a text? RFC 9309 2.2.3, in time linear in both, whatever they are.

/** A pattern cut at its stars. */
export interface Glob {
  /** Literal parts, in order; the first stands at the beginning of the text, the others anywhere behind the part before. */
  parts: readonly string[];
  /** Whether the last part ends the text. */
  anchored: boolean;
}

/** A `$` counts only at the end. Runs of stars are one star. */
export function parseGlob(pattern: string): Glob {
  const anchored = pattern.endsWith("$");
  const parts = (anchored ? pattern.slice(0, -1) : pattern).split("*");
  return { parts: parts.filter((part, index) => part !== "" || index === 0 || index === parts.length - 1), anchored };
}

/** `steps.count` grows by the characters looked at: a measure of work for tests. */
export function globMatches(glob: Glob, text: string, steps = { count: 0 }): boolean {
  const { parts, anchored } = glob;
  const first = parts[0]!;
  steps.count += first.length;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  if (parts.length === 1) return !anchored || at === text.length;
  const floating = anchored ? parts.length - 1 : parts.length;
  for (let index = 1; index < floating; index++) {
    at = endOfFirst(parts[index]!, text, at, steps);
    if (at < 0) return false;
  }
  if (!anchored) return true;
  const last = parts[parts.length - 1]!;
  steps.count += last.length;
  return text.length - last.length >= at && text.endsWith(last);
}

/** Where the first occurrence of `part` from `from` on ends, or -1: Knuth, Morris and Pratt's search. */
function endOfFirst(part: string, text: string, from: number, steps: { count: number }): number {
  if (part.length > text.length - from) return -1;
  if (part === "") return from;
  const borders = bordersOf(part, steps);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) {
      matched = borders[matched - 1]!;
      steps.count++;
    }
    if (part.charCodeAt(matched) === code) matched++;
    steps.count++;
    if (matched === part.length) return at + 1;
  }
  return -1;
}

/** For each length of prefix the length of its longest proper prefix that is also its end. */
function bordersOf(part: string, steps: { count: number }): Uint32Array {
  const borders = new Uint32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at++) {
    while (length > 0 && part.charCodeAt(at) !== part.charCodeAt(length)) {
      length = borders[length - 1]!;
      steps.count++;
    }
    if (part.charCodeAt(at) === part.charCodeAt(length)) length++;
    borders[at] = length;
    steps.count++;
  }
  return borders;
}
