// What is one host of the soak's web, and what is it owed?
import type { SiteAnswer, SiteHandler, SiteRequest } from "../lib/web-server.ts";
import { htmlHeaders } from "./pages.ts";

export interface SoakSite {
  /** Without the web's domain. */
  name: string;
  /** Hosts of one kind are counted together. */
  kind: string;
  handler: SiteHandler;
  /** What its robots.txt asks for; absent: the crawl's own delay is owed. */
  crawlDelayMs?: number;
  /** Nothing ends it or puts it off: it is asked until the end. */
  steady?: boolean;
  /** Its robots.txt never comes, so that no page may be asked for. */
  locked?: boolean;
}

/** Forbidden by the robots.txt of every host of the web. */
export const FORBIDDEN = "/private/";

export interface SitePlan {
  name: string;
  kind: string;
  crawlDelaySeconds?: number;
  steady?: boolean;
  /** Whether robots.txt names /sitemap.xml. */
  sitemap?: boolean;
  answer(ask: SiteRequest): SiteAnswer | undefined;
}

/** A site with a robots.txt as it should be. */
export function siteOf({ name, kind, crawlDelaySeconds, steady = false, sitemap, answer }: SitePlan): SoakSite {
  const lines = [
    "User-agent: *",
    `Disallow: ${FORBIDDEN}`,
    ...(crawlDelaySeconds === undefined ? [] : [`Crawl-delay: ${crawlDelaySeconds}`]),
  ];
  return {
    name,
    kind,
    steady,
    ...(crawlDelaySeconds === undefined ? {} : { crawlDelayMs: 1000 * crawlDelaySeconds }),
    handler: (ask) => {
      if (ask.path !== "/robots.txt") return answer(ask);
      const map = sitemap === true ? [`Sitemap: http://${ask.host}/sitemap.xml`] : [];
      return { headers: { "content-type": "text/plain" }, body: `${[...lines, ...map].join("\n")}\n` };
    },
  };
}

export function answered(body: string, headers: Record<string, string> = {}): SiteAnswer {
  return { headers: { ...htmlHeaders, ...headers }, body };
}

export function missing(path: string): SiteAnswer {
  return { status: 404, headers: htmlHeaders, body: `<title>none</title>no page at ${path.length} characters` };
}
