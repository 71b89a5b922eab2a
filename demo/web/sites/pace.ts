// Sites that ask for patience: one is slow and sets a Crawl-delay, one says 429 with Retry-After, one is down.
import type { SiteAnswer } from "../../../test/lib/web-server.ts";
import { html, type Link, plain } from "../page.ts";
import { prose } from "../prose.ts";
import { ALLOW_ALL, type DemoSite, fixedSite } from "../site.ts";

const SLOW = "slow.demo.test";
const BUSY = "busy.demo.test";
const DOWN = "down.demo.test";

export const CRAWL_DELAY_SECONDS = 2;
const SLOW_ANSWER_MS = 300;
const SLOW_PAGES = 8;

const RETRY_AFTER_SECONDS = 2;
const BUSY_PAGES = 12;
/** These are refused when they are asked for the first time. */
const REFUSED_ONCE = ["/4.html", "/9.html"];

export function slow(): DemoSite {
  const paths = numbered(SLOW_PAGES);
  const answers = new Map<string, SiteAnswer>(
    paths.map((path) => [path, { ...page(SLOW, path, paths), delayMs: SLOW_ANSWER_MS }]),
  );
  return {
    host: SLOW,
    about: `answers after ${SLOW_ANSWER_MS} ms and asks for ${CRAWL_DELAY_SECONDS} s between requests`,
    handler: fixedSite(`User-agent: *\nCrawl-delay: ${CRAWL_DELAY_SECONDS}\nDisallow:\n`, answers),
    expected: { fetched: paths },
  };
}

export function busy(): DemoSite {
  const paths = numbered(BUSY_PAGES);
  const refused = new Set<string>();
  const answers = new Map(
    paths.map((path) => [
      path,
      (): SiteAnswer => {
        if (!REFUSED_ONCE.includes(path) || refused.has(path)) return page(BUSY, path, paths);
        refused.add(path);
        return { ...plain("not now\n"), status: 429, headers: { "retry-after": String(RETRY_AFTER_SECONDS) } };
      },
    ]),
  );
  return {
    host: BUSY,
    about: `answers 429 with Retry-After: ${RETRY_AFTER_SECONDS} now and then`,
    handler: fixedSite(ALLOW_ALL, answers),
    expected: { fetched: paths.filter((path) => !REFUSED_ONCE.includes(path)), retried: REFUSED_ONCE },
  };
}

export function down(): DemoSite {
  return { host: DOWN, about: "nothing listens there", expected: { fetched: [] } };
}

function numbered(count: number): string[] {
  return ["/", ...Array.from({ length: count - 1 }, (_, index) => `/${index + 1}.html`)];
}

/** The first page leads to all, the others back. */
function page(host: string, path: string, paths: readonly string[]): SiteAnswer {
  const to: Link[] = (path === "/" ? paths.slice(1) : ["/"]).map((href) => ({ href, text: `To ${href}` }));
  const title = path === "/" ? `Welcome to ${host}` : `Page ${path.slice(1, -5)} of ${host}`;
  return html({ title, paragraphs: prose(host + path, 3), links: to, about: "Article" });
}
