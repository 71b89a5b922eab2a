// The hosts that a crawl is for: large ones without end, small ones that come up all the time, slow ones, and ones that ask for rest.
import { gzipSync } from "node:zlib";
import type { SiteAnswer } from "../lib/web-server.ts";
import { chanceOf, childrenOf, htmlHeaders, numberOf, page, pathOf } from "./pages.ts";
import { answered, FORBIDDEN, missing, type SoakSite, siteOf } from "./site.ts";

/** Links of one page to pages that nobody has seen. */
const NEW_LINKS = 4;
/** And to some of the first thousand pages of its host, as navigation leads: most links of a page are known already. */
const KNOWN_LINKS = 20;
const KNOWN_PAGES = 1000;
const AWAY_LINKS = 3;
const SITEMAP_URLS = 50;

/** Small hosts there are at most; each is named first by one page of a large one. */
const SMALL_HOSTS = 6000;
const SMALL_PAGES = 4;
/** So many pages of large hosts name one small host more. */
const PAGES_A_SMALL_HOST = 40;

const CRAWL_DELAY_SECONDS = 1;
const SLOW_ANSWER_MS = 400;
/** Of the requests of a busy host one in so many is put off. */
const REFUSED_ONE_IN = 30;
const RETRY_AFTER_SECONDS = 3;

export interface Population {
  domain: string;
  large: number;
  slow: number;
  busy: number;
}

export function honestSites({ domain, large, slow, busy }: Population): SoakSite[] {
  let served = 0;
  const away = (host: string, number: number): string[] => {
    served += 1;
    const chance = chanceOf(`${host} ${number} away`);
    const neighbours = Array.from(
      { length: AWAY_LINKS },
      () => `http://large-${Math.floor(chance() * large)}.${domain}${pathOf(Math.floor(chance() * KNOWN_PAGES))}`,
    );
    const small = Math.floor(served / PAGES_A_SMALL_HOST) % SMALL_HOSTS;
    return served % PAGES_A_SMALL_HOST === 0 ? [...neighbours, `http://small-${small}.${domain}/`] : neighbours;
  };
  return [
    ...numbered(large, (index) => largeSite(`large-${index}`, index % 2 === 0, away)),
    ...numbered(slow, (index) => slowSite(`slow-${index}`)),
    ...numbered(busy, (index) => busySite(`busy-${index}`)),
    ...numbered(SMALL_HOSTS, (index) => smallSite(`small-${index}`)),
  ];
}

function numbered(count: number, make: (index: number) => SoakSite): SoakSite[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** One page in fifty has moved, is gone, or fails. */
function largeSite(name: string, packed: boolean, away: (host: string, number: number) => string[]): SoakSite {
  return siteOf({
    name,
    kind: "large",
    steady: true,
    sitemap: true,
    answer: ({ host, path }) => {
      if (path === "/sitemap.xml") return sitemap(host);
      const number = numberOf(path);
      if (number === undefined) return missing(path);
      if (number % 50 === 17) return { status: 301, headers: { location: pathOf(number + 1) } };
      if (number % 50 === 27) return missing(path);
      if (number % 500 === 37) return { status: 500, headers: htmlHeaders, body: "a fault" };
      const forbidden = number % 10 === 0 ? [`${FORBIDDEN}${number}`] : [];
      const body = page(`${host} ${number}`, [...linksOf(host, number), ...away(host, number), ...forbidden]);
      return packed
        ? { headers: { ...htmlHeaders, "content-encoding": "gzip" }, body: gzipSync(body, { level: 1 }) }
        : answered(body);
    },
  });
}

function linksOf(host: string, number: number): string[] {
  const chance = chanceOf(`${host} ${number} home`);
  const known = Array.from({ length: KNOWN_LINKS }, () => pathOf(Math.floor(chance() * Math.min(KNOWN_PAGES, number + 1))));
  return [...childrenOf(number, NEW_LINKS).map(pathOf), ...known];
}

function sitemap(host: string): SiteAnswer {
  const urls = Array.from({ length: SITEMAP_URLS }, (_, index) => `<url><loc>http://${host}${pathOf(index)}</loc></url>`);
  return {
    headers: { "content-type": "application/xml" },
    body: `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join("")}</urlset>`,
  };
}

function smallSite(name: string): SoakSite {
  return siteOf({
    name,
    kind: "small",
    answer: ({ host, path }) => {
      const number = numberOf(path);
      if (number === undefined || number >= SMALL_PAGES) return missing(path);
      return answered(page(`${host} ${number}`, [pathOf(number + 1), "/"]));
    },
  });
}

function slowSite(name: string): SoakSite {
  return siteOf({
    name,
    kind: "slow",
    steady: true,
    crawlDelaySeconds: CRAWL_DELAY_SECONDS,
    answer: ({ host, path }) => {
      const number = numberOf(path);
      return number === undefined ? missing(path) : { ...answered(tree(host, number)), delayMs: SLOW_ANSWER_MS };
    },
  });
}

/** Both forms of Retry-After, RFC 9110 10.2.3. A date has whole seconds: one more than is meant. */
function busySite(name: string): SoakSite {
  let asked = 0;
  return siteOf({
    name,
    kind: "busy",
    steady: true,
    answer: ({ host, path }) => {
      asked += 1;
      const number = numberOf(path);
      if (number === undefined) return missing(path);
      if (asked % REFUSED_ONE_IN !== 0) return answered(tree(host, number));
      const seconds = asked % (2 * REFUSED_ONE_IN) === 0;
      const date = new Date(Date.now() + 1000 * (RETRY_AFTER_SECONDS + 1)).toUTCString();
      return {
        status: seconds ? 429 : 503,
        headers: { "retry-after": seconds ? String(RETRY_AFTER_SECONDS) : date, "content-type": "text/plain" },
        body: "not now",
      };
    },
  });
}

function tree(host: string, number: number): string {
  return page(`${host} ${number}`, [...childrenOf(number, NEW_LINKS).map(pathOf), "/"]);
}
