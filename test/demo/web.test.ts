import assert from "node:assert/strict";
import { test } from "node:test";
import { demoFaults } from "../../demo/web/judge.ts";
import type { DemoSite } from "../../demo/web/site.ts";
import { allSites, demoConnectTo, demoSeeds, demoSites } from "../../demo/web/sites.ts";
import { startDemoWeb } from "../../demo/web/start.ts";
import { limits } from "../../schemas/limits.ts";
import { disallowedRequests, repeated } from "../lib/judge.ts";
import type { RequestLogEntry, SiteAnswer, SiteRequest } from "../lib/web-server.ts";

interface Manners {
  robots: boolean;
  nofollow: boolean;
  sitemaps: boolean;
  depthMax: number;
  /** Of one trap; the walk knows them by what the sites say of themselves. */
  trapPages: number;
}
const POLITE: Manners = { robots: true, nofollow: true, sitemaps: true, depthMax: limits.depthMax, trapPages: 5 };

/** An independent walk over the sites' handlers, without sockets; what a well-behaved crawl would ask for. */
async function walk(sites: readonly DemoSite[], manners: Manners): Promise<RequestLogEntry[]> {
  const handlers = demoSites(sites);
  const log: RequestLogEntry[] = [];
  const robots = new Map<string, string>();
  const ask = async (url: URL): Promise<SiteAnswer | undefined> => {
    const request = { method: "GET", host: url.host, path: url.pathname + url.search, headers: {}, port: 0 } as SiteRequest;
    const answer = await handlers[url.host]?.(request);
    if (answer === undefined) return undefined;
    const at = log.length;
    const entry = { startedAt: at, answeredAt: at, endedAt: at, concurrent: 1, method: "GET", userAgent: "" };
    log.push({ ...entry, host: url.host, path: request.path, status: answer.status ?? 200 });
    return answer;
  };
  const forbidden = (url: URL) => {
    const entry = { host: url.host, path: url.pathname + url.search, startedAt: 0 } as RequestLogEntry;
    return manners.robots && disallowedRequests([entry], url.host, robots.get(url.host) ?? "").length > 0;
  };
  const queue = demoSeeds(sites).map((url) => ({ url: new URL(url), depth: 0, hops: 0 }));
  const inTrap = new Map<string, number>();
  const trapped = ({ host, pathname, search }: URL): boolean => {
    const { endless, fetched = [] } = sites.find((site) => site.host === host)?.expected ?? {};
    if (endless === undefined || fetched.includes(pathname + search)) return false;
    inTrap.set(host, (inTrap.get(host) ?? 0) + 1);
    return (inTrap.get(host) ?? 0) > manners.trapPages;
  };
  const known = new Set(queue.map(({ url }) => url.href));
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { url, depth, hops } = next;
    if (!robots.has(url.host)) robots.set(url.host, String((await ask(new URL("/robots.txt", url)))?.body ?? ""));
    if (forbidden(url) || trapped(url)) continue;
    let answer = await ask(url);
    if (answer?.status === 429) answer = await ask(url);
    const moved = answer?.headers?.location;
    const found = moved === undefined ? linksOf(String(answer?.body ?? ""), manners) : [String(moved)];
    const map = manners.sitemaps && url.pathname === "/" ? /^Sitemap: (\S+)/m.exec(robots.get(url.host) ?? "")?.[1] : undefined;
    if (map !== undefined) found.push(map);
    for (const href of found) {
      const target = { url: new URL(href, url), depth: depth + 1, hops: moved === undefined ? 0 : hops + 1 };
      if (known.has(target.url.href) || target.depth > manners.depthMax || target.hops > limits.redirectHops) continue;
      known.add(target.url.href);
      queue.push(target);
    }
  }
  return log;
}

function linksOf(body: string, { nofollow }: Manners): string[] {
  const anchors = [...body.matchAll(/<a href="([^"]+)"( rel="nofollow")?>/g)].filter(
    (found) => !nofollow || found[2] === undefined,
  );
  return [
    ...anchors.map((found) => found[1]!.replaceAll("&amp;", "&")),
    ...[...body.matchAll(/<loc>([^<]+)</g)].map((found) => found[1]!),
  ];
}

test("a well-behaved walk comes to exactly what is expected of each site", async () => {
  const sites = allSites();
  const log = await walk(sites, POLITE);
  assert.deepEqual(demoFaults(sites, log, { sitemaps: true }), []);
  assert.deepEqual(repeated(log), []);
});

test("without sitemaps the pages that only a sitemap names are left out", async () => {
  const sites = allSites();
  assert.deepEqual(demoFaults(sites, await walk(sites, { ...POLITE, sitemaps: false }), { sitemaps: false }), []);
});

const faults: [situation: string, manners: Partial<Manners>, fault: RegExp][] = [
  ["robots.txt ignored", { robots: false }, /rules\.demo\.test\/private\/diary\.html was asked for, against the rules/],
  ["nofollow ignored", { nofollow: false }, /rules\.demo\.test\/guests\/1\.html was asked for, against the rules/],
  ["sitemaps left out though asked for", { sitemaps: false }, /garden\.demo\.test\/notes\/frost\.html was not fetched/],
  ["no bound of depth", { depthMax: 200, trapPages: 200 }, /calendar\.demo\.test has no end: 200 pages/],
  ["no bound of a pattern", { trapPages: 100 }, /sessions\.demo\.test has no end: 100 pages/],
  ["no eye for answers that are one", { trapPages: 100 }, /shop\.demo\.test has no end: 100 pages/],
  ["no bound of a path", { trapPages: 100 }, /maze\.demo\.test has no end: 100 pages/],
  [
    "no bound of parameters",
    { trapPages: 100 },
    /search\?brand=1&colour=1&price=1&size=1 was fetched, and nothing asked for it/,
  ],
  ["no ear for an echo", { trapPages: 100 }, /article-1\.html\?print=1&print=1 was fetched, and nothing asked for it/],
  ["traps shunned altogether", { trapPages: 0 }, /maze\.demo\.test: its trap was not entered/],
  ["too small a depth", { depthMax: 0 }, /garden\.demo\.test\/herbs\/ was not fetched/],
];
for (const [situation, manners, fault] of faults)
  test(`${situation} is found`, async () => {
    const sites = allSites();
    assert.match(demoFaults(sites, await walk(sites, { ...POLITE, ...manners }), { sitemaps: true }).join("\n"), fault);
  });

test("the sites say the same in each run, and differ from each other", async () => {
  const bodies = async () => {
    const sites = demoSites();
    const answers = Object.entries(sites).map(([host, site]) => site({ host, path: "/", headers: {} } as SiteRequest));
    return (await Promise.all(answers)).map((answer) => String(answer?.body));
  };
  const first = await bodies();
  assert.deepEqual(await bodies(), first);
  assert.equal(new Set(first).size, first.length);
});

test("the archive answers 304 to whoever has its validators", async () => {
  const site = demoSites()["archive.demo.test"]!;
  const ask = (headers: Record<string, string>) =>
    Promise.resolve(site({ path: "/2015.html", headers } as unknown as SiteRequest));
  const { headers = {} } = (await ask({}))!;
  const table: [Record<string, string>, number | undefined][] = [
    [{ "if-none-match": String(headers.etag) }, 304],
    [{ "if-none-match": '"another"' }, undefined],
    [{ "if-modified-since": String(headers["last-modified"]) }, 304],
    [{ "if-none-match": '"another"', "if-modified-since": String(headers["last-modified"]) }, undefined],
  ];
  for (const [validators, status] of table) assert.equal((await ask(validators))?.status, status, JSON.stringify(validators));
});

test("every host is led to the web's port, but the one that is down, where nothing listens", async () => {
  const web = await startDemoWeb();
  try {
    const sites = allSites();
    assert.deepEqual(web.seeds, demoSeeds(sites));
    const ports = web.connectTo.map((value) => Number(value.split(":").at(-1)));
    const closed = ports.filter((port) => port !== web.port);
    assert.equal(closed.length, 1);
    assert.deepEqual(web.connectTo, demoConnectTo(sites, web.port, closed[0]!));
    await assert.rejects(fetch(`http://127.0.0.1:${closed[0]}/`));
  } finally {
    await web.close();
  }
});
