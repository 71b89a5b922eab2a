// Where do the links of a page lead? Its hrefs, resolved against its base, as canonical URLs of which each stands once.
import { limits } from "../../schemas/limits.ts";
import type { RefusedLinks } from "../../schemas/parsed-page.ts";
import { normalizeUrl } from "../url/normalize.ts";
import { withEncodedQuery } from "./query-encoding.ts";
import type { Scan } from "./scan-result.ts";

export interface Links {
  links: string[];
  refused: RefusedLinks;
}

/** The document base URL (HTML 2.4.3): one that is no URL, or that runs or holds its content itself, is passed over. */
export function baseOf(scan: Scan, pageUrl: string): string {
  if (scan.baseHref === undefined) return pageUrl;
  const base = URL.parse(scan.baseHref, pageUrl);
  return base === null || base.protocol === "data:" || base.protocol === "javascript:" ? pageUrl : base.href;
}

export interface Surroundings {
  /** The document base URL. */
  base: string;
  /** Of the page, a name of the Encoding standard. */
  charset: string;
  /** The whole page asks not to be followed: there are no links. */
  nofollow: boolean;
}

/** In page order, at most limits.linksPerPage: repeats do not count towards it. */
export function linksOf(scan: Scan, { base, charset, nofollow }: Surroundings): Links {
  const links = new Set<string>();
  const refused: RefusedLinks = { nofollow: 0, malformed: scan.hrefsTooLong, scheme: 0, fanOut: scan.hrefsBeyond };
  for (const [href, follow] of scan.hrefs) {
    if (nofollow || !follow) {
      refused.nofollow++;
      continue;
    }
    const target = normalizeUrl(withEncodedQuery(href, charset), base);
    if (!target.ok) refused[target.reason === "scheme" ? "scheme" : "malformed"]++;
    else if (links.size < limits.linksPerPage) links.add(target.url);
    else if (!links.has(target.url)) refused.fanOut++;
  }
  return { links: [...links], refused };
}
