// What stands on a virtual page, and what must a parser find in it? Links and text that follow from host, page, version and seed alone.
import { linkSetHash } from "../../core/content/digest.ts";
import { simHash } from "../../core/content/simhash.ts";
import type { ParsedPage } from "../../schemas/parsed-page.ts";
import { hashOf, hashText, shareOf } from "./chance.ts";
import { entryTo, type SimLink } from "./traps.ts";
import type { SimHost, World } from "./world.ts";

/**
 * `own`: a text like no other. `copy`: one of a few texts, under links and a title of its own. `mirror`: one of a few bodies, the same
 * to the byte wherever it stands. `nothing`: what a host answers to whatever is asked, one text and one title.
 */
export type PageKind = "own" | "copy" | "mirror" | "nothing";

export interface SimPage {
  host: SimHost;
  path: string;
  page: number;
  version: number;
  kind: PageKind;
  /** Which of the texts or bodies; of `own` pages their own number. */
  text: number;
  links: SimLink[];
}

const COPIES = 3; // different texts that are copied
const MIRRORS = 4; // different bodies

/** Every sixteenth page of a host is a copy of a text, and every sixteenth a mirror of a body. */
export function pageOf(world: World, host: SimHost, path: string, page: number, version: number): SimPage {
  const kind = page % 16 === 7 ? "copy" : page % 16 === 15 ? "mirror" : "own";
  const dice = path.includes("?") ? hashText(path) : hashOf(world.seed, host.index, page);
  const text = kind === "own" ? dice : dice % (kind === "copy" ? COPIES : MIRRORS);
  const links =
    kind === "mirror" ? mirrorLinks(world, text) : [...linksOf(world, host, page), ...entryTo(world, host, path, page)];
  return { host, path, page, version: kind === "own" ? version : 0, kind, text, links };
}

/** A page of a host's endless series; it never changes. */
export function seriesPage(host: SimHost, path: string, links: SimLink[]): SimPage {
  const kind = host.trap === "anything" ? "nothing" : "own";
  const page = hashText(path);
  return { host, path, page, version: 0, kind, text: kind === "nothing" ? host.index : page, links };
}

const LINKS = 10;

function linksOf(world: World, host: SimHost, page: number): SimLink[] {
  const links: SimLink[] = [];
  const here = (path: string): number => links.push({ href: path, url: `http://${host.name}${path}` });
  for (let index = 0; index < LINKS; index++) {
    const dice = hashOf(world.seed, host.index, page, 20 + index);
    if (index === 0)
      here(`/p${(page + 1) % host.pages}`); // so that nearly every page is linked
    else if (index === 1 && page % 4 === 1)
      here(`/q${page}`); // nobody else links there, unless by a redirect
    else if (shareOf(dice, 1) < host.linksAway) links.push(away(world, hashOf(dice, 2)));
    else here(`/${dice % 7 === 0 ? "d" : "p"}${hashOf(dice, 4) % host.pages}`);
  }
  return links;
}

function away(world: World, dice: number): SimLink {
  const other = world.hosts[dice % world.hosts.length]!;
  const url = `http://${other.name}/p${hashOf(dice, 3) % other.pages}`;
  return { href: url, url };
}

function mirrorLinks(world: World, text: number): SimLink[] {
  return Array.from({ length: LINKS }, (_, index) => away(world, hashOf(world.seed, text, index, 40)));
}

/** The page as it is sent, in ASCII. */
export function markupOf(page: SimPage): Uint8Array {
  let head = `<!doctype html><title>${titleOf(page)}</title><p>${markOf(page)}</p>`;
  for (const { href } of page.links) head += `<a href="${href}">${LINK_TEXT}</a>\n`;
  const parts = paragraphsOf(page);
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, { markup }) => sum + markup.length, head.length));
  let at = bytes.write(head, "latin1");
  for (const { markup } of parts) {
    bytes.set(markup, at);
    at += markup.length;
  }
  return bytes;
}

const LINK_TEXT = "to";

function titleOf({ host, path, version, kind, text }: SimPage): string {
  if (kind === "nothing") return `welcome to ${host.name}`;
  return kind === "mirror" ? `mirror ${text}` : `${path} of ${host.name}, version ${version}`;
}

/** By which pages of one text differ. */
function markOf({ host, version, kind }: SimPage): string {
  return kind === "own" ? `version ${version}` : kind === "copy" ? `host${host.index}` : kind;
}

/** Exactly what parsePage gives for the page's markup, of `markupChars` characters. */
export function parsedOf(page: SimPage, markupChars: number): ParsedPage {
  const links: string[] = [];
  const hrefs: string[] = [];
  for (const { href, url } of page.links) {
    if (!links.includes(url)) links.push(url);
    if (!hrefs.includes(href)) hrefs.push(href);
  }
  const textChars = textCharsOf(page);
  return {
    ok: true,
    links,
    refused: { nofollow: 0, malformed: 0, scheme: 0, fanOut: 0 },
    title: titleOf(page),
    noindex: false,
    nofollow: false,
    simHash: simHashOf(page),
    linkSetHash: linkSetHash(links),
    quality: {
      textChars,
      linkCount: hrefs.length,
      textRatioPercent: Math.round((100 * textChars) / markupChars),
      hasTitle: true,
    },
  };
}

/** The parts of the visible text stand one blank apart. */
function textCharsOf(page: SimPage): number {
  let chars = markOf(page).length + page.links.length * (1 + LINK_TEXT.length);
  for (const { markup } of paragraphsOf(page)) chars += 1 + markup.length - "<p></p>".length;
  return chars;
}

// A text is a paragraph for each of its places, one of those that only this place has, so that no word of it comes twice.

const PLACES = 16;
const CHOICES = 16; // paragraphs of one place: a hex digit each, of two numbers that follow from the text's
const WORDS = 15; // of a paragraph

interface Paragraph {
  markup: Uint8Array;
  votes: Votes;
}

const made: Paragraph[] = [];

function paragraphsOf({ kind, text }: SimPage): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let digits = 0;
  for (let place = 0; place < PLACES; place++) {
    digits = (place & 7) === 0 ? hashOf(text, KINDS.indexOf(kind), place) : digits >>> 4;
    const number = place * CHOICES + (digits & (CHOICES - 1));
    made[number] ??= makeParagraph(number);
    paragraphs.push(made[number]);
  }
  return paragraphs;
}

const KINDS: readonly PageKind[] = ["own", "copy", "mirror", "nothing"];

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

const REPEATS_MAX = 3; // a word counts no oftener (core/content/simhash.ts)

/** Majority of the words' bits, as the real one has it, from sums that were made once. */
function simHashOf(page: SimPage): string {
  const votes = noVotes();
  let features = PLACES * WORDS;
  for (const paragraph of paragraphsOf(page)) addVotes(votes, paragraph.votes);
  for (const word of markOf(page).split(" ")) {
    addVotes(votes, votesOf(word));
    features++;
  }
  for (let count = 0; count < Math.min(REPEATS_MAX, page.links.length); count++) {
    addVotes(votes, votesOf(LINK_TEXT));
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
