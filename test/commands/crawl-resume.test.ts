// Does a crawl stop cleanly, go on where it stopped, and keep to its bounds? What came of each run is judged from the web's own log.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { askedPaths, eventsIn, html, links, onStage, reportOf, site, startCommand } from "../lib/crawl-command.ts";
import { repeated, smallestGapMs } from "../lib/judge.ts";
import type { RequestLogEntry, SiteHandler } from "../lib/web-server.ts";

const SEED = "http://a.test/";
const sorted = (paths: Iterable<string>): string[] => [...paths].sort();
const pagePaths = (pages: number): string[] =>
  Array.from({ length: pages }, (_, number) => (number === 0 ? "/" : `/${number}`));

/** `pages` pages, each with links to the next two. */
function chain(pages: number): Record<string, string> {
  return Object.fromEntries(
    pagePaths(pages).map((path, number) => [
      path,
      `<p>page ${number}</p>${links(...pagePaths(pages).slice(number + 1, number + 3))}`,
    ]),
  );
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let look = 0; look < 2000 && !isTrue(); look++) await pause(10);
  assert.ok(isTrue(), "it never came true");
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  test(`${signal} in the middle: what is under way is finished, exit 130, and the same command resumes without repeats`, async () => {
    const pages = chain(20);
    const slow: SiteHandler = async (ask) => ({ ...(await site(pages)(ask)), delayMs: 60 });
    await onStage({ "a.test": slow, "b.test": slow }, async ({ web, flags }) => {
      const args = [SEED, "http://b.test/", ...flags, "--delay-ms", "100", "--json"];
      const first = startCommand(args);
      await until(() => askedPaths(web.log).length >= 8);
      first.kill(signal);
      const stopped = await first.ended;
      assert.match(stopped.stderr, /stopping/);
      const report = reportOf(stopped, 130);
      assert.equal(report.cause, "interrupted");
      const before = web.log.length;
      assert.ok(before < 30, "it was not stopped in the middle");
      assert.deepEqual(cutOff(web.log), []);
      assert.equal(report.pages, askedPaths(web.log).length);

      const resumed = reportOf(await startCommand(args).ended, 0);
      for (const host of ["a.test", "b.test"]) {
        assert.deepEqual(sorted(askedPaths(web.log, host)), sorted(pagePaths(20)));
        assert.ok(smallestGapMs(web.log, host).answerToStart >= 100);
      }
      assert.deepEqual(repeated(web.log), []);
      assert.equal(report.pages + resumed.pages, 40);
    });
  });

/** Requests whose answers the crawler did not wait for. */
function cutOff(log: readonly RequestLogEntry[]): RequestLogEntry[] {
  return log.filter(
    (entry) => entry.answeredAt === undefined || entry.endedAt === undefined || entry.answeredAt > entry.endedAt,
  );
}

test("a second signal ends it at once", async () => {
  const held: SiteHandler = ({ path }) => (path === "/" ? { headers: html, body: "late", delayMs: 20_000 } : { status: 404 });
  await onStage({ "a.test": held }, async ({ web, flags }) => {
    const run = startCommand([SEED, ...flags]);
    await until(() => askedPaths(web.log).length === 1);
    run.kill("SIGINT");
    await pause(1_000); // two that come together are one Ctrl-C
    run.kill("SIGINT");
    const { code, signal } = await run.ended;
    assert.deepEqual([code, signal], [130, null]);
    assert.equal(web.log.at(-1)?.answeredAt, undefined);
  });
});

test("--max-pages counts over all runs on one folder: exit 3, a larger one goes on, and the end is exit 0 without requests", () =>
  onStage({ "a.test": site(chain(12)) }, async ({ web, report }) => {
    assert.equal((await report(3, SEED, "--max-pages", "4")).cause, "limit");
    assert.equal(askedPaths(web.log).length, 4);
    assert.equal((await report(3, SEED, "--max-pages", "4")).pages, 0);
    assert.equal((await report(3, SEED, "--max-pages", "9")).pages, 5);
    assert.equal(askedPaths(web.log).length, 9);
    assert.equal((await report(0, SEED, "--max-pages", "100")).pages, 3);
    assert.deepEqual(sorted(askedPaths(web.log)), sorted(pagePaths(12)));
    const before = web.log.length;
    const again = await report(0, SEED);
    assert.deepEqual([again.cause, again.pages, web.log.length], ["done", 0, before]);
  }));

test("the folder alone resumes: no seed need be named again", () =>
  onStage({ "a.test": site(chain(5)) }, async ({ web, report }) => {
    await report(3, SEED, "--max-pages", "2");
    await report(0);
    assert.deepEqual(sorted(askedPaths(web.log)), sorted(pagePaths(5)));
  }));

test("--max-pages-per-host bounds each host for itself, and the report tells which wait for it", () =>
  onStage({ "a.test": site(chain(9)), "b.test": site(chain(3)) }, async ({ web, report }) => {
    const told = await report(0, SEED, "http://b.test/", "--max-pages-per-host", "4");
    assert.equal(askedPaths(web.log, "a.test").length, 4);
    assert.equal(askedPaths(web.log, "b.test").length, 3);
    assert.deepEqual(
      told.deferred.map(({ host, reason }) => [host, reason]),
      [["a.test", "page-limit"]],
    );
  }));

test("seeds come from the command line and from a file, each once", () =>
  onStage({ "a.test": site({ "/": "a", "/x": "x" }), "b.test": site({ "/": "b" }) }, async ({ web, folder, report }) => {
    const file = join(folder, "seeds.txt");
    await writeFile(file, "# these\r\n\r\n  http://b.test/  \r\nHTTP://A.test:80/x#part\r\nhttp://a.test/x\r\n");
    await report(0, SEED, "--seeds", file);
    assert.deepEqual(sorted(askedPaths(web.log, "a.test")), ["/", "/x"]);
    assert.deepEqual(askedPaths(web.log, "b.test"), ["/"]);
  }));

test("a seed that redirects out of scope is named with the option that admits it", () => {
  const away =
    (location: string): SiteHandler =>
    ({ path }) =>
      path === "/" ? { status: 301, headers: { location } } : { status: 404 };
  const sites = {
    "a.test": away("http://www.a.test/"),
    "www.a.test": site({ "/": "www" }),
    "b.test": away("http://else.test/"),
  };
  return onStage(sites, async ({ web, report }) => {
    const told = await report(0, SEED, "http://b.test/");
    assert.equal(askedPaths(web.log, "www.a.test").length, 0);
    const line = (host: string) => told.seedRedirects.find((each) => each.includes(`http://${host}/`)) ?? "";
    assert.equal(told.seedRedirects.length, 2);
    assert.match(line("www.a.test"), /outside --scope host.*--scope domain/);
    assert.match(line("else.test"), /--scope any/);
  });
});

/** Hosts whose registrable domain is wide.test, and one beside them, each with a link to the next. */
const wide = {
  "wide.test": site({ "/": links("http://sub.wide.test/") }),
  "sub.wide.test": site({
    "/": links("http://other.test/", "https://sub.wide.test:8443/secure", "http://sub.wide.test:8080/port"),
  }),
  "other.test": site({ "/": "the end" }),
};
const reached: [scope: string, hosts: string[], flags: string[]][] = [
  ["host", ["wide.test"], []],
  ["domain", ["sub.wide.test", "wide.test"], []],
  ["any", ["other.test", "sub.wide.test", "wide.test"], ["--max-pages", "50"]],
];
for (const [scope, hosts, flags] of reached)
  test(`--scope ${scope} reaches ${hosts.join(", ")}`, () =>
    onStage(wide, async ({ web, report }) => {
      const told = await report(
        0,
        "http://wide.test/",
        "--scope",
        scope,
        "--exclude",
        "https://**",
        "--exclude",
        "**:8080/**",
        ...flags,
      );
      assert.deepEqual(sorted(new Set(web.log.map(({ host }) => host))), hosts);
      assert.equal(told.refusals.scope ?? 0, scope === "any" ? 0 : scope === "domain" ? 1 : 1);
      assert.equal(told.refusals.excluded ?? 0, scope === "host" ? 0 : 2);
    }));

const tree = site({
  "/": links("/docs/", "/private/", "/docs/private/", "/img"),
  "/docs/": links("/docs/a", "/docs/a?x=1", "/docs/deep/er"),
  "/private/": links("/private/a"),
  "/docs/private/": "hidden",
  "/docs/a": "a",
  "/docs/a?x=1": "a with a query",
  "/docs/deep/er": "deep",
  "/img": "image",
});
const taken: [rules: string[], paths: string[]][] = [
  [
    ["--exclude", "**/private/**"],
    ["/", "/docs/", "/docs/a", "/docs/a?x=1", "/docs/deep/er", "/img"],
  ],
  [
    ["--include", "**/docs/**", "--include", "http://a.test/"],
    ["/", "/docs/", "/docs/a", "/docs/a?x=1", "/docs/deep/er", "/docs/private/"],
  ],
  [
    ["--include", "**", "--exclude", "**/docs/**", "--include", "**/docs/a"],
    ["/", "/img", "/private/", "/private/a"],
  ],
  [
    ["--exclude", "**/docs/**", "--include", "**"],
    ["/", "/docs/", "/docs/a", "/docs/a?x=1", "/docs/deep/er", "/docs/private/", "/img", "/private/", "/private/a"],
  ],
  [
    ["--exclude", "http://a.test/docs/*"],
    ["/", "/docs/private/", "/img", "/private/", "/private/a"],
  ],
];
for (const [rules, paths] of taken)
  test(`${rules.join(" ")}: ${paths.length} pages, the last match wins`, () =>
    onStage({ "a.test": tree }, async ({ web, report }) => {
      await report(0, SEED, ...rules);
      assert.deepEqual(sorted(askedPaths(web.log)), sorted(paths));
    }));

test("--max-depth counts links from the nearest seed; what lies beyond is refused as `depth`", () =>
  onStage({ "a.test": site(chain(12)) }, async ({ web, report }) => {
    const told = await report(0, SEED, "http://a.test/8", "--max-depth", "1");
    assert.deepEqual(sorted(askedPaths(web.log)), sorted(["/", "/1", "/2", "/8", "/9", "/10"]));
    assert.ok((told.refusals.depth ?? 0) > 0);
  }));

test("--accept-types widens what is kept; other bodies end after the headers as `content-type`", async () => {
  const typed: SiteHandler = ({ path }) => {
    const type = { "/a.pdf": "application/pdf", "/b.png": "image/png", "/c.zip": "application/zip" }[path];
    if (type !== undefined) return { headers: { "content-type": type }, body: `bytes of ${path}` };
    return path === "/" ? { headers: html, body: links("/a.pdf", "/b.png", "/c.zip") } : { status: 404 };
  };
  for (const [flags, kept] of [
    [[], 1],
    [["--accept-types", "application/pdf,image/*"], 3],
  ] as const)
    await onStage({ "a.test": typed }, async ({ report }) => {
      const { outcomes, reasons } = await report(0, SEED, ...flags);
      assert.deepEqual([outcomes.fetched, outcomes["refused-body"]], [kept, 4 - kept]);
      assert.equal(reasons["content-type"], 4 - kept);
    });
});

test("--sitemaps fetches what only sitemaps name: plain, by an index, and gzipped", async () => {
  const urls = (...paths: string[]) =>
    `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths.map((path) => `<url><loc>http://a.test${path}</loc></url>`).join("")}</urlset>`;
  const index = (...paths: string[]) =>
    `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths.map((path) => `<sitemap><loc>http://a.test${path}</loc></sitemap>`).join("")}</sitemapindex>`;
  const xml = { "content-type": "application/xml" };
  const answers: Record<string, ReturnType<SiteHandler>> = {
    "/robots.txt": {
      headers: { "content-type": "text/plain" },
      body: "Sitemap: http://a.test/plain.xml\nSitemap: /index.xml\n",
    },
    "/plain.xml": { headers: xml, body: urls("/plain-1", "/plain-2") },
    "/index.xml": { headers: xml, body: index("/part.xml", "/part.xml.gz") },
    "/part.xml": { headers: xml, body: urls("/part-1") },
    "/part.xml.gz": { headers: { "content-type": "application/gzip" }, body: gzipSync(urls("/zipped-1", "/zipped-2")) },
    "/usual.xml": { status: 404 },
  };
  const pages = ["/", "/plain-1", "/plain-2", "/part-1", "/zipped-1", "/zipped-2"];
  const mapped: SiteHandler = ({ path }) =>
    answers[path] ?? (pages.includes(path) ? { headers: html, body: `<p>${path}</p>` } : { status: 404 });
  const usual: SiteHandler = ({ path }) => {
    if (path === "/sitemap.xml") return { headers: xml, body: urls("/").replaceAll("a.test/", "b.test/only-here") };
    return path === "/robots.txt" ? { status: 404 } : { headers: html, body: `<p>${path}</p>` };
  };
  await onStage({ "a.test": mapped, "b.test": usual }, async ({ web, report }) => {
    const told = await report(0, SEED, "http://b.test/", "--sitemaps");
    const maps = ["/plain.xml", "/index.xml", "/part.xml", "/part.xml.gz"];
    assert.deepEqual(sorted(askedPaths(web.log, "a.test")), sorted([...pages, ...maps]));
    assert.deepEqual(sorted(askedPaths(web.log, "b.test")), ["/", "/only-here", "/sitemap.xml"]);
    assert.equal(told.sitemaps.fetched, 5);
    assert.equal(told.outcomes.fetched, 8);
  });
  await onStage({ "a.test": mapped }, async ({ web, report }) => {
    await report(0, SEED);
    assert.deepEqual(askedPaths(web.log), ["/"]);
  });
});

test("noindex keeps a page out of the index and follows its links, nofollow the other way round, by meta and by header", async () => {
  const meta = (content: string) => `<meta name="robots" content="${content}">`;
  const asked: Record<string, [tags: string, header?: string]> = {
    "/meta-noindex": [meta("noindex")],
    "/meta-nofollow": [meta("nofollow")],
    "/meta-none": [meta("none")],
    "/header-noindex": ["", "noindex"],
    "/header-nofollow": ["", "nofollow"],
    "/for-us": ["", "gleaner: noindex"],
    "/for-others": ["", "otherbot: none"],
  };
  const robots: SiteHandler = ({ path }) => {
    const given = asked[path];
    if (path === "/") return { headers: html, body: links(...Object.keys(asked)) };
    if (given === undefined) return path.endsWith("/below") ? { headers: html, body: `<p>${path}</p>` } : { status: 404 };
    const [tags, header] = given;
    return {
      headers: { ...html, ...(header && { "x-robots-tag": header }) },
      body: `${tags}<p>${path}</p>${links(`${path}/below`)}`,
    };
  };
  await onStage({ "a.test": robots }, async ({ web, data, report }) => {
    const { refusals } = await report(0, SEED);
    const below = askedPaths(web.log).filter((path) => path.endsWith("/below"));
    assert.deepEqual(
      sorted(below),
      sorted(["/meta-noindex", "/header-noindex", "/for-us", "/for-others"].map((path) => `${path}/below`)),
    );
    assert.equal(refusals.nofollow, 3);
    const events = eventsIn(data, "index");
    assert.ok(events.every(({ op }) => op === "upsert"));
    const kept = ["/", "/meta-nofollow", "/header-nofollow", "/for-others", ...below];
    assert.deepEqual(sorted(events.map(({ url }) => new URL(url).pathname)), sorted(kept));
  });
});
