// Sites that make up addresses and answer each of them: a search with facets, sessions in links, an echo, a maze, and a shop that knows no 404.
import type { SiteAnswer, SiteHandler } from "../../../test/lib/web-server.ts";
import { html, type Link, notFound, plain } from "../page.ts";
import { prose } from "../prose.ts";
import { ALLOW_ALL, type DemoSite, type Expectation } from "../site.ts";

/** Beside the trap each has a few pages as they should be, which a crawl must not lose with it. */
const REAL_PAGES = 6;

type Endless = NonNullable<Expectation["endless"]>;

interface Maze {
  host: string;
  about: string;
  /** Links of the front page into the trap. */
  doors: readonly string[];
  /** Real pages that lead into it. */
  within?: readonly string[];
  /** What all but the front page and those beside the trap say. */
  inside(path: string): SiteAnswer;
  endless: Endless;
}

export function mazes(): DemoSite[] {
  return [facets(), sessions(), shop(), echo(), maze()].map(mazeSite);
}

function mazeSite({ host, about, doors, within = [], inside, endless }: Maze): DemoSite {
  const real = Array.from({ length: REAL_PAGES }, (_, index) => `/about/${index + 1}.html`);
  const handler: SiteHandler = ({ path }) => {
    if (path === "/robots.txt") return plain(ALLOW_ALL);
    if (path === "/") return page(host, path, [...real, ...doors]);
    if (real.includes(path)) return page(host, path, ["/"]);
    return inside(path);
  };
  return { host, about, handler, expected: { fetched: ["/", ...real, ...within], endless } };
}

function page(host: string, path: string, to: readonly string[]): SiteAnswer {
  const links: Link[] = to.map((href) => ({ href, text: `To ${href}` }));
  return html({ title: `${host} at ${path}`, paragraphs: prose(host + path, 3), links });
}

const FACETS = ["brand", "colour", "price", "size", "sort", "view"];
/** Of one search: what demo/policies.json allows. More would be 64 pages with these six, and a million with twenty. */
const FACETS_MAX = 3;
const FACET_SEARCHES = 41; // all choices of one, two or three of six

function facets(): Maze {
  const host = "facets.demo.test";
  return {
    host,
    about: "a search that each of six facets narrows, in any combination",
    doors: FACETS.map((facet) => `/search?${facet}=1`),
    inside: (path) => {
      const [place, query = ""] = path.split("?");
      if (place !== "/search") return notFound(path);
      const chosen = new Set(query.split("&"));
      const narrower = FACETS.map((facet) => [...new Set([...chosen, `${facet}=1`])].sort()).filter(
        (choice) => choice.length > chosen.size,
      );
      return page(
        host,
        path,
        narrower.map((choice) => `/search?${choice.join("&")}`),
      );
    },
    endless: {
      pattern: new RegExp(`^/search\\?[a-z]+=1(?:&[a-z]+=1){0,${FACETS_MAX - 1}}$`),
      most: FACET_SEARCHES,
      reasons: ["parameters"],
    },
  };
}

/** What demo/policies.json allows of one pattern with a query; some more may come from the sample of a paused pattern. */
const SESSIONS_MAX = 20;
const SAMPLE = 5;

function sessions(): Maze {
  const host = "sessions.demo.test";
  let visits = 0;
  const door = (): string => {
    visits += 1;
    return `/basket.php?sid=${(visits * 2_654_435_761) % 2 ** 32}`;
  };
  return {
    host,
    about: "a new session in every link, each with a page of its own",
    doors: [door()],
    inside: (path) => (path.startsWith("/basket.php?") ? page(host, path, [door(), door(), door()]) : notFound(path)),
    endless: { pattern: /^\/basket\.php\?sid=\d+$/, most: SESSIONS_MAX + SAMPLE, reasons: ["template-limit"] },
  };
}

/** Links of each page that is none; those of the first few are followed, until the crawl sees that all answers are one. */
const OFFERS = 2;
const OFFERS_MAX = 25;

function shop(): Maze {
  const host = "shop.demo.test";
  let visits = 0;
  return {
    host,
    about: "says 200 and the same to whatever address is asked, with links to more",
    doors: ["/offers/old.html"],
    inside: () => {
      visits += 1;
      const links = Array.from({ length: OFFERS }, (_, index) => `/offers/${visits}-${index}.html`);
      const to = links.map((href) => ({ href, text: "Another offer" }));
      return html({ title: "Page not found", paragraphs: prose(host, 2), links: to });
    },
    endless: { pattern: /^\/offers\/[\w-]+\.html$/, most: OFFERS_MAX, reasons: ["soft-404"] },
  };
}

const ARTICLES = 5;

function echo(): Maze {
  const host = "echo.demo.test";
  const articles = Array.from({ length: ARTICLES }, (_, index) => `/article-${index + 1}.html`);
  return {
    host,
    about: "pages that lead to themselves with print=1, once more with each step",
    doors: articles,
    within: articles,
    inside: (path) =>
      articles.includes(path.split("?")[0] ?? "")
        ? page(host, path, [path.includes("?") ? `${path}&print=1` : `${path}?print=1`])
        : notFound(path),
    endless: { pattern: /^\/article-\d\.html\?print=1$/, most: ARTICLES, reasons: ["echo"] },
  };
}

/** Twenty levels are the default limit of a path's depth; the others end at two steps. */
const LEVELS_MAX = 20;

/** Three doors: the same room again and again, a room below each room, and a link that lacks its scheme. */
function maze(): Maze {
  const host = "maze.demo.test";
  return {
    host,
    about: "relative links that every path answers: the same room, deeper rooms, a name without its scheme",
    doors: ["room/", "level-1/", "www.partner.test/"],
    inside: (path) => page(host, path, [nextStep(path)]),
    endless: {
      pattern: /^\/(?:(?:room\/)+|(?:level-\d+\/)+|(?:www\.partner\.test\/)+)$/,
      most: LEVELS_MAX + 3,
      reasons: ["repeated-segments", "path-depth", "relative-growth"],
    },
  };
}

function nextStep(path: string): string {
  const level = /\/level-(\d+)\/$/.exec(path)?.[1];
  if (level !== undefined) return `level-${Number(level) + 1}/`;
  return path.startsWith("/room/") ? "room/" : "www.partner.test/";
}
