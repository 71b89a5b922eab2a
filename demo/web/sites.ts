// Which sites make up the demo web, and how does a crawl reach them?
import type { SiteHandler } from "../../test/lib/web-server.ts";
import { html } from "./page.ts";
import { prose } from "./prose.ts";
import { ALLOW_ALL, type DemoSite, demoUrl, fixedSite } from "./site.ts";
import { archive } from "./sites/archive.ts";
import { garden } from "./sites/garden.ts";
import { mazes } from "./sites/mazes.ts";
import { moved } from "./sites/moved.ts";
import { busy, down, slow } from "./sites/pace.ts";
import { rules } from "./sites/rules.ts";
import { calendar, mirror } from "./sites/traps.ts";

const START = "start.demo.test";

/** All sites, the start page's first, fresh ones: what a site remembers of requests begins anew. */
export function allSites(): DemoSite[] {
  const sites = [garden(), slow(), busy(), rules(), moved(), calendar(), ...mazes(), archive(), mirror(), down()];
  return [start(sites), ...sites];
}

/** The handlers by host, for startWeb. */
export function demoSites(sites: readonly DemoSite[] = allSites()): Record<string, SiteHandler> {
  return Object.fromEntries(sites.flatMap(({ host, handler }) => (handler === undefined ? [] : [[host, handler]])));
}

/** One URL a site. With the scope `host` all links between the sites stay within it. */
export function demoSeeds(sites: readonly DemoSite[] = allSites()): string[] {
  return sites.map(({ host }) => demoUrl(host));
}

/** Values of --connect-to: the sites to `port`, those that are down to `closedPort`. */
export function demoConnectTo(sites: readonly DemoSite[], port: number, closedPort: number): string[] {
  return sites.map(({ host, handler }) => `${host}:80=127.0.0.1:${handler === undefined ? closedPort : port}`);
}

function start(sites: readonly DemoSite[]): DemoSite {
  const links = sites.map(({ host, about }) => ({ href: demoUrl(host), text: `${host}: ${about}` }));
  const answer = html({ title: "The demo web", paragraphs: prose(START, 2), links, about: "CollectionPage" });
  return {
    host: START,
    about: "links to all the others",
    handler: fixedSite(ALLOW_ALL, new Map([["/", answer]])),
    expected: { fetched: ["/"] },
  };
}
