// What stands on a virtual page, and what must a parser find in it? Links and text that follow from host, page, version and seed alone.
import { linkSetHash } from "../../core/content/digest.ts";
import type { ParsedPage } from "../../schemas/parsed-page.ts";
import { hashOf, hashText, shareOf } from "./chance.ts";
import { type Paragraph, paragraphsOf, REPEATS_MAX, simHashOf } from "./texts.ts";
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
  const parts = textOf(page);
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

const KINDS: readonly PageKind[] = ["own", "copy", "mirror", "nothing"];

function textOf({ kind, text }: SimPage): Paragraph[] {
  return paragraphsOf(KINDS.indexOf(kind), text);
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
    simHash: simHashOf(textOf(page), wordsBeside(page)),
    linkSetHash: linkSetHash(links),
    quality: {
      textChars,
      linkCount: hrefs.length,
      textRatioPercent: Math.round((100 * textChars) / markupChars),
      hasTitle: true,
    },
  };
}

function wordsBeside(page: SimPage): string[] {
  return [...markOf(page).split(" "), ...page.links.slice(0, REPEATS_MAX).map(() => LINK_TEXT)];
}

/** The parts of the visible text stand one blank apart. */
function textCharsOf(page: SimPage): number {
  let chars = markOf(page).length + page.links.length * (1 + LINK_TEXT.length);
  for (const { markup } of textOf(page)) chars += 1 + markup.length - "<p></p>".length;
  return chars;
}
