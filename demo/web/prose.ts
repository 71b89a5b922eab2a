// Where does the demo's text come from? From a word list and a seed: the same seed always gives the same sentences, and no two sites share them.

/** Draws a whole number from 0 to below `count`. */
export type Draw = (count: number) => number;

/** A stream of draws that the seed decides. */
export function drawFrom(seed: string): Draw {
  let state = 0x9e3779b9;
  for (const letter of seed) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return (count) => {
    // A 32-bit linear congruential step; the high bits are the better ones.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}

const SUBJECTS = [
  "the old wall",
  "a row of beans",
  "morning dew",
  "the north bed",
  "a good spade",
  "the compost heap",
  "every second seedling",
  "our neighbour's pear tree",
  "a bucket of rainwater",
  "the first frost",
  "a quiet bee",
  "the gate by the stream",
];
const VERBS = ["keeps", "warms", "outlives", "shelters", "needs", "follows", "divides", "feeds", "waits for", "remembers"];
const OBJECTS = [
  "the roots below it",
  "whatever was sown in March",
  "more light than we give it",
  "the soft ground near the path",
  "a week of patience",
  "the whole of the east side",
  "three kinds of thyme",
  "last year's leaves",
  "the shade of the hedge",
  "an evening without wind",
];
const ENDINGS = [
  "",
  " until the days grow short",
  ", as far as anyone can tell",
  " when the soil is dry",
  ", and nobody minds",
  " for as long as it rains",
  ", which is how it should be",
];

export function sentence(draw: Draw): string {
  const pick = (list: readonly string[]) => list[draw(list.length)]!;
  const text = `${pick(SUBJECTS)} ${pick(VERBS)} ${pick(OBJECTS)}${pick(ENDINGS)}.`;
  return text[0]!.toUpperCase() + text.slice(1);
}

/** `paragraphs` texts of `sentences` sentences each. */
export function prose(seed: string, paragraphs: number, sentences = 5): string[] {
  const draw = drawFrom(seed);
  return Array.from({ length: paragraphs }, () => Array.from({ length: sentences }, () => sentence(draw)).join(" "));
}
