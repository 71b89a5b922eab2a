// Which endless series has a host, and where do their pages lead? Facets, a calendar, echoes, answers to any path, session ids, growth.
import { hashOf, hashText } from "./chance.ts";
import type { SimHost, World } from "./world.ts";

export const traps = [
  "facets", // /find with any subset of 12 parameters in any order
  "calendar", // /cal/N, and the next one
  "echo", // /echo?q=N links to itself with the same once more
  "anything", // whatever path is asked for is answered with one text and one set of relative links
  "sessions", // pages are linked under ids drawn anew
  "growth", // relative links below /g/ that every path answers
] as const;
export type Trap = (typeof traps)[number];

export interface SimLink {
  /** As it stands in the markup. */
  href: string;
  url: string;
}

/** Half of the hosts have one, so that a dozen have one of each; the host of the seed has none. */
export function trapOf(seed: number, index: number): Trap | undefined {
  return index === 0 ? undefined : traps[(hashOf(seed, 50) + index) % (2 * traps.length)];
}

/** What an ordinary page of the host has on top of its links: the way in. */
export function entryTo(world: World, host: SimHost, path: string, page: number): SimLink[] {
  const dice = hashOf(world.seed, host.index, page, 60);
  switch (host.trap) {
    case "facets":
      return [linkTo(host, `/find?${facet(dice % FACETS, dice)}`)];
    case "calendar":
      return [linkTo(host, `/cal/${page + 1}`)];
    case "echo":
      return [linkTo(host, `/echo?q=${page}`)];
    case "anything":
      return [linkTo(host, "/any/")];
    case "sessions":
      return [linkTo(host, `/p${dice % host.pages}?sessionid=${hashOf(dice, hashText(path)).toString(16)}`)];
    case "growth":
      return [linkTo(host, "/g/one/")];
    default:
      return [];
  }
}

/** The links of a page of the host's series; undefined where the path is none of its. */
export function trapLinks(world: World, host: SimHost, path: string): SimLink[] | undefined {
  switch (host.trap) {
    case "facets":
      return path.startsWith("/find?") ? furtherFacets(world, host, path) : undefined;
    case "calendar":
      return path.startsWith("/cal/") ? furtherMonths(host, Number(path.slice("/cal/".length))) : undefined;
    case "echo":
      return path.startsWith("/echo?") ? echoes(host, path) : undefined;
    case "anything":
      return (ordinaryPage(host, path) ?? host.pages) >= host.pages ? anywhere(host, path) : undefined;
    case "growth":
      return path.startsWith("/g/") ? deeper(host, path) : undefined;
    default:
      return undefined;
  }
}

/** /pN and /qN are pages, /dN those that robots.txt may forbid; undefined where the path names none. Which there are, host.pages tells. */
export function ordinaryPage(host: SimHost, path: string): number | undefined {
  if (path === "/") return 0;
  const mark = host.trap === "sessions" ? path.indexOf("?sessionid=") : -1;
  const found = /^\/[pqd](\d{1,9})$/.exec(mark < 0 ? path : path.slice(0, mark));
  return found === null ? undefined : Number(found[1]);
}

function linkTo(host: SimHost, path: string): SimLink {
  return { href: path, url: `http://${host.name}${path}` };
}

const FACETS = 12;
const VALUES = 3; // of one facet
const FURTHER = 3; // links of a page of results

function facet(index: number, dice: number): string {
  return `f${index}=${(dice >>> 8) % VALUES}`;
}

/** One parameter more, before the others or after them: every subset comes in every order. */
function furtherFacets(world: World, host: SimHost, path: string): SimLink[] {
  const query = path.slice("/find?".length);
  const known = new Set(query.split("&").map((pair) => pair.slice(0, pair.indexOf("="))));
  const links: SimLink[] = [];
  for (let index = 0; index < FURTHER && known.size < FACETS; index++) {
    const dice = hashOf(world.seed, hashText(path), index);
    let name = dice % FACETS;
    while (known.has(`f${name}`)) name = (name + 1) % FACETS;
    const more = facet(name, dice);
    links.push(linkTo(host, dice & 0x10000 ? `/find?${more}&${query}` : `/find?${query}&${more}`));
  }
  return links;
}

function furtherMonths(host: SimHost, month: number): SimLink[] {
  return [linkTo(host, `/cal/${month + 1}`), linkTo(host, `/cal/${month + 12}`)];
}

function echoes(host: SimHost, path: string): SimLink[] {
  const last = path.slice(path.lastIndexOf("q="));
  return [linkTo(host, `${path}&${last}`), linkTo(host, `${path}?${last}`)];
}

const NAMES = ["red/", "green/", "blue/", "grey/"];

/** The same words below whatever was asked for: only the answers, which are alike, tell that there is nothing. */
function anywhere(host: SimHost, path: string): SimLink[] {
  const plain = path.replace(/\?.*/, "");
  const folder = plain.slice(0, plain.lastIndexOf("/") + 1);
  return NAMES.map((href) => ({ href, url: `http://${host.name}${folder}${href}` }));
}

/** The last one was meant to lead to another site, and its scheme is missing. */
function deeper(host: SimHost, path: string): SimLink[] {
  return ["one/", "two/", "www.elsewhere.sim/"].map((href) => ({ href, url: `http://${host.name}${path}${href}` }));
}
