// A site whose pages never change and say so: ETag and Last-Modified, and 304 to whoever knows them (RFC 9110, 13).
import type { SiteAnswer, SiteRequest } from "../../../test/lib/web-server.ts";
import { html, type Link } from "../page.ts";
import { prose } from "../prose.ts";
import { ALLOW_ALL, type DemoSite, fixedSite } from "../site.ts";

const HOST = "archive.demo.test";
const LAST_MODIFIED = "Tue, 04 Mar 2025 10:00:00 GMT";
const PATHS = ["/", ...Array.from({ length: 9 }, (_, index) => `/${2015 + index}.html`)];

export function archive(): DemoSite {
  const answers = new Map(PATHS.map((path) => [path, (ask: SiteRequest) => conditional(ask, page(path))]));
  return {
    host: HOST,
    about: "pages that never change, with ETag and Last-Modified",
    handler: fixedSite(ALLOW_ALL, answers),
    expected: { fetched: PATHS },
  };
}

/** If-None-Match goes before If-Modified-Since, RFC 9110, 13.2.2. */
function conditional({ path, headers }: SiteRequest, full: SiteAnswer): SiteAnswer {
  const etag = `"${path.replace(/\W/g, "") || "home"}-1"`;
  const validators = { etag, "last-modified": LAST_MODIFIED };
  const match = headers["if-none-match"];
  const since = headers["if-modified-since"];
  const known =
    match === undefined ? since !== undefined && Date.parse(since) >= Date.parse(LAST_MODIFIED) : match.includes(etag);
  return known ? { status: 304, headers: validators } : { ...full, headers: { ...full.headers, ...validators } };
}

function page(path: string): SiteAnswer {
  const links: Link[] = (path === "/" ? PATHS.slice(1) : ["/"]).map((href) => ({ href, text: `To ${href}` }));
  const title = path === "/" ? "The archive" : `The year ${path.slice(1, -5)}`;
  return html({ title, paragraphs: prose(HOST + path, 4), links, about: path === "/" ? "CollectionPage" : "Article" });
}
