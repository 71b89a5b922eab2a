// Does a text match a pattern? Anchored globs in which `*` is any run without "/", `**` any run, and all else is itself.
import { limits } from "../../schemas/limits.ts";

/** A pattern is written by an operator; one longer than any URL matches none. */
const PATTERN_LENGTH_MAX = limits.urlLength;

const STAR = -1; // any run without "/"
const STARS = -2; // any run
const SLASH = 0x2f;

/**
 * The matcher of a pattern, which has to match the whole text. `?` is not a wildcard, because it begins the query of a URL, and
 * nothing is escaped: a `*` in the text is matched by `*`. Time is linear in the text for any given pattern.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const tokens = tokensOf(pattern);
  const wild = pattern.indexOf("*");
  if (wild < 0) return (text) => text === pattern;
  const prefix = pattern.slice(0, wild);
  return (text) => text.startsWith(prefix) && matches(tokens, wild, text);
}

/** What is wrong with a pattern, or undefined. */
export function globFault(pattern: string): string | undefined {
  if (pattern === "") return "the pattern is empty";
  if (pattern.length > PATTERN_LENGTH_MAX) return `the pattern is longer than ${PATTERN_LENGTH_MAX} characters`;
  if (/[\s\x00-\x1f\x7f]/.test(pattern)) return "the pattern holds a space or control character, which no URL does";
  return undefined;
}

function tokensOf(pattern: string): number[] {
  const tokens: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] !== "*") tokens.push(pattern.charCodeAt(at));
    else if (pattern[at + 1] !== "*") tokens.push(STAR);
    else {
      tokens.push(STARS);
      while (pattern[at + 1] === "*") at++;
    }
  }
  return tokens;
}

/** Walks all places in the pattern that the text so far may have led to, side by side: no text makes it turn back. */
function matches(tokens: number[], prefixLength: number, text: string): boolean {
  const seenAt = new Int32Array(tokens.length + 1).fill(prefixLength - 2);
  let places: number[] = [];
  reach(tokens, prefixLength, places, seenAt, prefixLength - 1);
  for (let at = prefixLength; at < text.length && places.length > 0; at++) {
    const code = text.charCodeAt(at);
    const next: number[] = [];
    for (const place of places) {
      const token = tokens[place];
      if (token === code) reach(tokens, place + 1, next, seenAt, at);
      else if (token === STARS || (token === STAR && code !== SLASH)) reach(tokens, place, next, seenAt, at);
    }
    places = next;
  }
  return places.includes(tokens.length);
}

/** Adds a place, and those behind the wildcards it stands before, once for each character. */
function reach(tokens: number[], place: number, places: number[], seenAt: Int32Array, at: number): void {
  for (let next = place; seenAt[next] !== at; next++) {
    seenAt[next] = at;
    places.push(next);
    const token = tokens[next];
    if (token !== STAR && token !== STARS) return;
  }
}
