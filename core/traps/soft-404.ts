// Is this answer what the host says to whatever is asked? Many URLs, one text with the same links, and a status that calls it a success.
import type { AnswersSeen } from "../../schemas/template-count.ts";
import { digestNumber } from "../content/digest.ts";

export interface PageAnswer {
  urlId: string;
  /** Canonical. */
  url: string;
  status: number;
  title: string;
  /** Absolute, in page order. */
  links: readonly string[];
  /** 16 lower-case hex digits. */
  simHash: string;
}

export interface AnswerVerdict {
  /** The same object where nothing new was learnt. */
  state: AnswersSeen;
  /** Whether the answer is of a family that more than the limit of URLs were given. */
  reason: "soft-404" | undefined;
}

type Family = AnswersSeen["families"][number];
type Answer = Omit<Family, "urls"> & { urlBit: number };

export const noAnswersSeen: AnswersSeen = { recent: [], families: [] };

/** `urlsMax`: distinct URLs that may have one answer; a fifth of them where its title says itself that there is no such page. */
export function softNotFound(state: AnswersSeen, page: PageAnswer, urlsMax: number): AnswerVerdict {
  const answer = answerOf(page);
  if (answer === undefined) return { state, reason: undefined };
  const most = saysNotFound(page.title) ? Math.ceil(urlsMax / CONFESSED) : urlsMax;
  const found = state.families.find((family) => alike(family, answer));
  if (found !== undefined) return joined(state, found, answer, most);
  const twin = state.recent.find((other) => alike(other, answer));
  if (twin === undefined)
    return { state: { ...state, recent: [...state.recent, answer].slice(-RECENT_MAX) }, reason: undefined };
  if (twin.urlBit === answer.urlBit) return { state, reason: undefined }; // most likely the same page, visited again
  const recent = state.recent.filter((other) => other !== twin);
  const family = withUrl(
    withUrl({ simHash: twin.simHash, title: twin.title, links: twin.links, urls: new Uint8Array(URL_BITS / 8) }, twin),
    answer,
  );
  return { state: { recent, families: [family, ...roomIn(state.families)] }, reason: verdict(family, most) };
}

/** The families, one less where no more may be remembered: of those with the fewest URLs the oldest goes, as pages that stand under two addresses are many. */
function roomIn(families: readonly Family[]): readonly Family[] {
  if (families.length < FAMILIES_MAX) return families;
  const sizes = families.map(urlsOf);
  const least = sizes.lastIndexOf(Math.min(...sizes));
  return families.filter((_, index) => index !== least);
}

/** Answers seen once that are remembered: a family shows if it is at least one in so many of a host's pages. */
const RECENT_MAX = 32;
/** A host has one or two pages of errors, and some for log-in and consent. */
const FAMILIES_MAX = 8;
/** Bits of a family's map of URLs: linear counting is good to twice as many. */
const URL_BITS = 256;
/** Near-duplicates differ in at most three of 64 bits (Manku et al., 2007). */
const DISTANCE_MAX = 3;
/** A title that confesses makes each URL count so many times. */
const CONFESSED = 5;

/** Undefined: nothing to compare. A page without words has no SimHash, and one that is an error says so by its status. */
function answerOf({ urlId, url, status, title, links, simHash }: PageAnswer): Answer | undefined {
  if (status < 200 || status > 299 || !/^[0-9a-f]{16}$/.test(simHash) || /^0+$/.test(simHash)) return undefined;
  const named = title
    .toLowerCase()
    .replace(/[\s\d]+/g, " ")
    .trim();
  return {
    simHash: Uint8Array.from(Buffer.from(simHash, "hex")),
    title: digest32(named),
    links: saysNotFound(title) ? 0 : linksAlike(url, links),
    urlBit: (digest32(`answer ${urlId}`) >>> 24) % URL_BITS,
  };
}

const LINKS_MAX = 200; // of a page that are compared

/**
 * 32 bits of the links as the page's author wrote them: an album's pages have one text, and each leads to the next; an answer to
 * everything leads to the same places, or to the same names below whatever was asked. The address asked for counts as such.
 */
function linksAlike(url: string, links: readonly string[]): number {
  const path = url.slice(url.indexOf("/", url.indexOf("//") + 2));
  const folder = url.slice(0, url.length - path.length) + path.slice(0, path.replace(/\?.*/, "").lastIndexOf("/") + 1);
  const echoes = path.length > 1 ? [url, path, encodeURIComponent(url), encodeURIComponent(path)] : [];
  const written = links.slice(0, LINKS_MAX).map((link) => {
    const own = link.startsWith(folder) ? `./${link.slice(folder.length)}` : link;
    return echoes.reduce((text, echo) => text.replaceAll(echo, "@"), link === url ? "@" : own);
  });
  return digest32(written.join("\n"));
}

function digest32(text: string): number {
  return Math.floor(digestNumber(text) / 2 ** 16);
}

/** The titles of product pages differ while their texts hardly do; an error page's title may hold the address, but then its text is one. */
function alike(one: Omit<Family, "urls">, other: Omit<Family, "urls">): boolean {
  if (one.links !== other.links) return false;
  const distance = distanceOf(one.simHash, other.simHash);
  return distance === 0 || (distance <= DISTANCE_MAX && one.title === other.title);
}

function distanceOf(one: Uint8Array, other: Uint8Array): number {
  let distance = Math.abs(one.length - other.length) * 8;
  for (let at = 0; at < one.length; at++) {
    for (let bits = (one[at] ?? 0) ^ (other[at] ?? 0); bits !== 0; bits &= bits - 1) distance++;
  }
  return distance;
}

function joined(state: AnswersSeen, family: Family, answer: Answer, most: number): AnswerVerdict {
  // What is known to be no answer need not be counted on: the record is written no more.
  const after = verdict(family, most) === undefined ? withUrl(family, answer) : family;
  const reason = verdict(after, most);
  if (after === family && state.families[0] === family) return { state, reason };
  return { state: { ...state, families: [after, ...state.families.filter((other) => other !== family)] }, reason };
}

function verdict(family: Family, most: number): "soft-404" | undefined {
  return urlsOf(family) > most ? "soft-404" : undefined;
}

function withUrl(family: Family, { urlBit }: Pick<Answer, "urlBit">): Family {
  const at = urlBit >> 3;
  const bit = 1 << (urlBit & 7);
  if (((family.urls[at] ?? 0) & bit) !== 0) return family;
  const urls = Uint8Array.from(family.urls);
  urls[at] = (urls[at] ?? 0) | bit;
  return { ...family, urls };
}

/** Distinct URLs by linear counting (Whang et al., 1990). */
function urlsOf({ urls }: Family): number {
  let set = 0;
  for (const byte of urls) for (let bits = byte; bits !== 0; bits &= bits - 1) set++;
  return set >= URL_BITS ? Number.POSITIVE_INFINITY : Math.round(URL_BITS * Math.log(URL_BITS / (URL_BITS - set)));
}

/** Words of error pages in the languages of most pages; a title without any of them is judged by number alone. */
const CONFESSIONS = [
  "404",
  "not found",
  "does not exist",
  "doesn't exist",
  "no longer available",
  "page unavailable",
  "nicht gefunden",
  "introuvable",
  "no encontrad",
  "no existe",
  "non trovata",
  "não encontrad",
  "не найден",
  "見つかりません",
  "找不到",
  "不存在",
];

function saysNotFound(title: string): boolean {
  const text = title.toLowerCase();
  return CONFESSIONS.some((confession) => text.includes(confession));
}
