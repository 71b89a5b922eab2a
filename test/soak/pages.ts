// What stands on a page of the soak's web? Words that its seed decides, and links; each page differs from every other.

export const htmlHeaders = { "content-type": "text/html; charset=utf-8" };

/** Draws a number from 0 to below 1. */
export type Chance = () => number;

/** A small linear congruential generator (the constants of Numerical Recipes): the same page for the same seed. */
export function chanceOf(seed: string): Chance {
  let state = 0x9e3779b9;
  for (const letter of seed) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const SYLLABLES = "ka lo mi ren sa tu vel wo xan ye zor bri cha del fen gur hal ist jor kem".split(" ");
const SYLLABLES_A_WORD = 3;
const WORDS_A_PAGE = 300;
const WORDS_A_PARAGRAPH = 60;

function words(chance: Chance, count: number): string {
  const syllable = () => SYLLABLES[Math.floor(chance() * SYLLABLES.length)]!;
  return Array.from({ length: count }, () => Array.from({ length: SYLLABLES_A_WORD }, syllable).join("")).join(" ");
}

/** A page of 300 words of its own. */
export function page(seed: string, links: readonly string[]): string {
  const chance = chanceOf(seed);
  const title = words(chance, 4);
  const paragraphs = Array.from(
    { length: WORDS_A_PAGE / WORDS_A_PARAGRAPH },
    () => `<p>${words(chance, WORDS_A_PARAGRAPH)}.</p>`,
  );
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>
${paragraphs.join("\n")}</main><nav>${anchors(links)}</nav></body></html>`;
}

export function anchors(links: readonly string[]): string {
  return links.map((href) => `<a href="${href.replaceAll("&", "&amp;")}">to ${href.length}</a>`).join("\n");
}

/** Pages are numbered as a tree, the front page 0: each leads to new ones, so that a site never ends and none lies deep. */
export function childrenOf(number: number, width: number): number[] {
  return Array.from({ length: width }, (_, index) => number * width + index + 1);
}

/** The number of a page by its path, `/p/17`; the front page is 0, what is none of these undefined. */
export function numberOf(path: string): number | undefined {
  if (path === "/") return 0;
  const [, digits] = /^\/p\/(\d{1,15})$/.exec(path) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export function pathOf(number: number): string {
  return number === 0 ? "/" : `/p/${number}`;
}
