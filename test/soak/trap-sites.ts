// The hosts that would keep a crawler for ever: they make up addresses, and answer each of them.
import type { HostPolicies } from "../../schemas/crawl-config.ts";
import type { SiteAnswer, SiteRequest } from "../lib/web-server.ts";
import { anchors, childrenOf, numberOf, page, pathOf } from "./pages.ts";
import { answered, type SoakSite, siteOf } from "./site.ts";

export function trapSites(): SoakSite[] {
  const traps = { calendar, facets, sessions: sessions(), offers: offers(), "soft-404": softNotFound };
  const unending = { echo, anything };
  return [
    ...Object.entries(traps).map(([name, answer]) => siteOf({ name, kind: name, answer })),
    ...Object.entries(unending).map(([name, answer]) => siteOf({ name, kind: name, steady: true, answer })),
  ];
}

/** Half an hour is too short for the default limits of patterns, which are as large as a sitemap. */
export function trapPolicies(domain: string): HostPolicies {
  return {
    version: 1,
    hosts: [
      { host: `calendar.${domain}`, agreed: false, limits: { urlsPerTemplate: 300 } },
      { host: `offers.${domain}`, agreed: false, limits: { urlsPerTemplate: 300 } },
      { host: `sessions.${domain}`, agreed: false, limits: { urlsPerQueryTemplate: 300 } },
      { host: `facets.${domain}`, agreed: false, limits: { urlsPerQueryTemplate: 300 } },
    ],
  };
}

const DAY_MS = 86_400_000;

/** Each day leads to the next one, the next week and the next month. */
function calendar({ host, path }: SiteRequest): SiteAnswer {
  const [, day = "2030-01-01"] = /^\/day\/(\d{4}-\d\d-\d\d)$/.exec(path) ?? [];
  const at = Date.parse(day);
  const links = [1, 7, 31].map((days) => `/day/${new Date(at + days * DAY_MS).toISOString().slice(0, 10)}`);
  return answered(page(`${host} ${day}`, links));
}

const FACETS = ["size", "colour", "brand", "price", "sort", "view", "stock", "rating", "sale", "new"];

/** Every page of a search can be narrowed by one more facet, or by another value of one. */
function facets({ host, path }: SiteRequest): SiteAnswer {
  const query = new URLSearchParams(path.split("?")[1] ?? "");
  const links = FACETS.flatMap((facet) =>
    [1, 2].map((value) => {
      const narrower = new URLSearchParams(query);
      narrower.set(facet, String(value));
      return `/search?${narrower}`;
    }),
  );
  return answered(page(`${host} ${query}`, links));
}

/** Five pages, and a new session in the address with each visit. */
function sessions(): (ask: SiteRequest) => SiteAnswer {
  let visits = 0;
  return ({ host, path }) => {
    visits += 1;
    const links = [0, 1, 2, 3, 4].map((item) => `/item/${item}?sid=${(visits * 2_654_435_761) % 2 ** 32}`);
    return answered(page(`${host} ${path.split("?")[0]}`, links));
  };
}

/** Each page leads to itself with a little more of the same. */
function echo({ host, path }: SiteRequest): SiteAnswer {
  const number = numberOf(path.split("?")[0] ?? "") ?? 0;
  const more = path.includes("?") ? `${path}&again=1` : `${path}?again=1`;
  return answered(page(`${host} ${path}`, [more, ...childrenOf(number, 2).map(pathOf)]));
}

/** Answers every path and query with a page of its own, whose links are relative: they grow with each step. */
function anything({ host, path }: SiteRequest): SiteAnswer {
  const [place = "/", query = ""] = path.split("?");
  const below = place.endsWith("/") ? place : `${place}/`;
  const key = `k${query.split("&").length}`;
  const links = [
    `${below}more/`,
    `${below}section-${path.length % 7}/`,
    `${below}www.partner.example/`,
    `${below}d${path.length}/`,
    `${place}?${query === "" ? "" : `${query}&`}${key}=1`,
  ];
  return answered(page(`${host} ${path}`, links));
}

/** One text with new links each time: only the limit of its pattern ends it, an album of photographs looks the same. */
function offers(): (ask: SiteRequest) => SiteAnswer {
  let visits = 0;
  return () => {
    visits += 1;
    return oneText([1, 2, 3].map((index) => `/offer/${visits}/${index}`));
  };
}

/** One text for all that is asked, under a status that calls it a success, with the same links below whatever was asked. */
function softNotFound(): SiteAnswer {
  return oneText(["shoes/", "hats/", "coats/"]);
}

function oneText(links: readonly string[]): SiteAnswer {
  const text = "We looked in every corner and could not find what you came for, but there is more to see. ".repeat(5);
  return answered(`<title>Our shop</title><p>${text}</p>${anchors(links)}`);
}
