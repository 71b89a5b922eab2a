// Which words stand on a virtual page, and what is their SimHash? Texts put together of paragraphs that are made once.
import { simHash } from "../../core/content/simhash.ts";
import { hashOf } from "./chance.ts";

// A text is a paragraph for each of its places, one of those that only this place has, so that no word of it comes twice.

const PLACES = 16;
const CHOICES = 16; // paragraphs of one place: a hex digit each, of two numbers that follow from the text's
const WORDS = 15; // of a paragraph

export interface Paragraph {
  markup: Uint8Array;
  votes: Votes;
}

const made: Paragraph[] = [];

/** `kind`: a number; the texts of two kinds have nothing in common but by chance. */
export function paragraphsOf(kind: number, text: number): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let digits = 0;
  for (let place = 0; place < PLACES; place++) {
    digits = (place & 7) === 0 ? hashOf(text, kind, place) : digits >>> 4;
    const number = place * CHOICES + (digits & (CHOICES - 1));
    made[number] ??= makeParagraph(number);
    paragraphs.push(made[number]);
  }
  return paragraphs;
}

function makeParagraph(number: number): Paragraph {
  const words = Array.from({ length: WORDS }, (_, index) => wordOf(number * WORDS + index));
  const votes = noVotes();
  for (const word of words) addVotes(votes, votesOf(word));
  return { markup: Buffer.from(`<p>${words.join(" ")}</p>`), votes };
}

const SYLLABLES = "ba ko ri mu sen tal vor din hal pe lu gra shi nod wex ju".split(" ");

/** Different words for different numbers below 16^3. */
function wordOf(number: number): string {
  return SYLLABLES[number >> 8]! + SYLLABLES[(number >> 4) & 15]! + SYLLABLES[number & 15]!;
}

/**
 * How many words set each of SimHash's 64 bits, four counts of a byte in each number: a text has 245 words at most. The first number
 * holds the four highest bits, the highest of them in its lowest byte.
 */
type Votes = Int32Array;

const NUMBERS = 16;

function noVotes(): Votes {
  return new Int32Array(NUMBERS);
}

function addVotes(sum: Votes, votes: Votes): void {
  for (let index = 0; index < NUMBERS; index++) sum[index]! += votes[index]!;
}

export const REPEATS_MAX = 3; // a word counts no oftener (core/content/simhash.ts)

/** Majority of the words' bits, as the real one has it, from sums that were made once. `words`: what counts beside the paragraphs. */
export function simHashOf(paragraphs: readonly Paragraph[], words: readonly string[]): string {
  const votes = noVotes();
  let features = paragraphs.length * WORDS;
  for (const paragraph of paragraphs) addVotes(votes, paragraph.votes);
  for (const word of words) {
    addVotes(votes, votesOf(word));
    features++;
  }
  let hex = "";
  for (const four of votes) hex += digitOf(four, features);
  return hex;
}

const DIGITS = "0123456789abcdef";

function digitOf(four: number, features: number): string {
  let digit = 0;
  for (let shift = 0; shift < 32; shift += 8) digit = digit * 2 + (2 * ((four >>> shift) & 0xff) > features ? 1 : 0);
  return DIGITS[digit]!;
}

const VOTES_KEPT = 20_000;
const known = new Map<string, Votes>();

/** The bits of a word alone are its SimHash. */
function votesOf(word: string): Votes {
  let votes = known.get(word);
  if (votes === undefined) {
    const hex = simHash(word);
    votes = Int32Array.from(hex, (digit) => {
      const bits = Number.parseInt(digit, 16);
      return ((bits >> 3) & 1) | (((bits >> 2) & 1) << 8) | (((bits >> 1) & 1) << 16) | ((bits & 1) << 24);
    });
    if (known.size >= VOTES_KEPT) known.clear();
    known.set(word, votes);
  }
  return votes;
}
