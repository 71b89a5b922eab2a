// Did a crawl of the demo web come to what it should? Judged from the server's log and each site's expectation.
import type { RequestLogEntry } from "../../test/lib/web-server.ts";
import type { DemoSite } from "./site.ts";

/** What differs from the expectation, a line each. Without `sitemaps` the pages that only a sitemap names are not asked for. */
export function demoFaults(
  sites: readonly DemoSite[],
  log: readonly RequestLogEntry[],
  { sitemaps }: { sitemaps: boolean },
): string[] {
  return sites.flatMap((site) =>
    siteFaults(
      site,
      log.filter(({ host }) => host === site.host),
      sitemaps,
    ),
  );
}

function siteFaults({ host, expected }: DemoSite, log: readonly RequestLogEntry[], sitemaps: boolean): string[] {
  const { fetched, sitemapOnly = [], answered = {}, never = [], retried = [], endless } = expected;
  const wanted = fetched.filter((path) => sitemaps || !sitemapOnly.includes(path));
  const got = new Set(log.filter(({ status }) => status === 200 || status === 304).map(({ path }) => path));
  const asked = new Map(log.map(({ path, status }) => [path, status]));
  const inEndless = [...got].filter((path) => endless?.pattern.test(path));
  const expectedPaths = new Set(["/robots.txt", "/sitemap.xml", ...fetched, ...retried, ...inEndless]);
  return [
    ...wanted.filter((path) => !got.has(path)).map((path) => `${host}${path} was not fetched`),
    ...[...got]
      .filter((path) => !expectedPaths.has(path))
      .map((path) => `${host}${path} was fetched, and nothing asked for it`),
    ...Object.entries(answered)
      .filter(([path, status]) => asked.get(path) !== status)
      .map(([path, status]) => `${host}${path} should have been answered ${status}, not ${asked.get(path) ?? "left out"}`),
    ...retried.filter((path) => !asked.has(path)).map((path) => `${host}${path} was not asked for`),
    ...never.filter((path) => asked.has(path)).map((path) => `${host}${path} was asked for, against the rules`),
    ...(endless !== undefined && inEndless.length > endless.most ? [`${host} has no end: ${inEndless.length} pages`] : []),
    ...(endless !== undefined && inEndless.length === 0 ? [`${host}: its trap was not entered`] : []),
  ];
}
