// Do the traps end a site without end, alone by what its links look like, and leave the rest of it complete? Each site is a function.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withinFanOut } from "../../../core/traps/fan-out.ts";
import { judgeTemplates, templatesToRead } from "../../../core/traps/judge-templates.ts";
import { templateRowKey } from "../../../core/traps/template.ts";
import { defaultTrapLimits } from "../../../core/traps/trap-limits.ts";
import { urlShapeRefusal } from "../../../core/traps/url-shape.ts";
import { hostKeyOf, urlIdentity } from "../../../core/url/keys.ts";
import { normalizeUrl } from "../../../core/url/normalize.ts";
import type { TrapLimits } from "../../../schemas/crawl-config.ts";
import type { TemplateCount } from "../../../schemas/template-count.ts";

/** The hrefs of a page. */
type Site = (url: URL) => string[];

const limits: TrapLimits = { ...defaultTrapLimits, urlsPerTemplate: 200, urlsPerQueryTemplate: 100, templatesPerHost: 30 };
const PAGES_MAX = 5_000; // a crawl of more has not ended

/** Crawls as the pipeline does, without clock and depth: only the traps can end it. */
function crawled(site: Site, seed: string): { pages: string[]; reasons: Set<string> } {
  const store = new Map<string, TemplateCount>();
  const pages = [seed];
  const known = new Set(pages);
  const reasons = new Set<string>();
  for (let at = 0; at < pages.length; at++) {
    assert.ok(at < PAGES_MAX, `no end after ${PAGES_MAX} pages, such as ${pages.at(-1)}`);
    const from = pages[at]!;
    const links = site(new URL(from)).flatMap((href) => {
      const normal = normalizeUrl(href, from);
      return normal.ok ? [normal.url] : [];
    });
    const fresh = withinFanOut(links, from, limits.linksPerPage).urls.filter((url) => !known.has(url));
    const shapely = fresh.filter((url) => {
      const reason = urlShapeRefusal(url, limits, from);
      if (reason !== undefined) reasons.add(reason);
      return reason === undefined;
    });
    const candidates = shapely.map((url) => ({
      canonicalUrl: url,
      urlId: urlIdentity(url).urlId,
      hostKey: hostKeyOf(url),
      limits,
    }));
    const read = templatesToRead(candidates).flatMap((name) => store.get(templateRowKey(name)) ?? []);
    const { verdicts, changed } = judgeTemplates(candidates, read, 1);
    for (const count of changed) store.set(templateRowKey(count), count);
    shapely.forEach((url, index) => {
      const { verdict } = verdicts[index]!;
      if (verdict.kind === "paused") reasons.add(verdict.reason);
      else {
        known.add(url);
        pages.push(url);
      }
    });
  }
  return { pages, reasons };
}

const HONEST = Array.from({ length: 60 }, (_, index) => `/articles/${index + 1}`);
/** As many pages as a trap that stands on every page gets when it is stopped at its first step. */
const ONE_EACH = HONEST.length + 1;

const withHonestPages =
  (trap: Site): Site =>
  (url) => [...HONEST, ...trap(url)];

const FACETS = Array.from({ length: 12 }, (_, index) => `facet${index}`);

const traps: [situation: string, site: Site, most: number, reason: string][] = [
  [
    "T1: each page links to itself with one more ?q=",
    (url) => [`${url.href}${url.search === "" ? "?q=" : "&q="}`],
    ONE_EACH,
    "echo",
  ],
  ["T1: ?q= is glued to what is there", (url) => [`${url.href}?q=`], ONE_EACH, "echo"],
  [
    "T1: each time with another value",
    (url) => [`${url.pathname}?q=${url.href.length}&q=${url.search.slice(1, 30)}`],
    1_000,
    "echo",
  ],
  [
    "T3: a search of 12 parameters, each of 5 values, in any subset",
    (url) => FACETS.flatMap((facet) => [1, 2, 3, 4, 5].map((value) => withParameter(url, facet, value))),
    600,
    "template-limit",
  ],
  [
    "parameters in the order in which they were chosen",
    (url) =>
      FACETS.filter((facet) => !url.searchParams.has(facet)).map(
        (facet) => `${url.pathname}?${[url.search.slice(1), `${facet}=1`].filter(Boolean).join("&")}`,
      ),
    500,
    "template-limit",
  ],
  ["L6: a link without its scheme, where every path answers", () => ["www.other.test/"], 3, "relative-growth"],
  [
    "L6: five of them",
    (url) => (url.pathname.startsWith("/articles") ? [] : ["www.a.test/", "www.b.test/", "www.c.test/", "d.test/", "e.test/"]),
    1_000,
    "relative-growth",
  ],
  ["a relative link to the directory's own name", () => ["again/"], 4, "repeated-segments"],
  [
    "four relative links in any order",
    (url) => (url.pathname.startsWith("/articles") ? [] : ["one/", "two/", "three/", "four/"]),
    3_500,
    "repeated-segments",
  ],
  ["a calendar by date", (url) => [`/day/${nextDay(url.pathname.slice(5))}`], 400, "template-limit"],
  ["a calendar by parameter", (url) => [`/calendar?day=${nextDay(url.searchParams.get("day") ?? "")}`], 300, "template-limit"],
  [
    "a login page with the way back in it",
    (url) => (url.pathname.startsWith("/articles") ? [] : [`/login?next=${encodeURIComponent(url.pathname + url.search)}`]),
    3,
    "echo",
  ],
  [
    "names drawn by chance for every directory",
    (url) => [1, 2, 3].map((link) => `/${letters(`${url.pathname}${link}`)}/${letters(`${link}${url.pathname}`)}/page`),
    500,
    "template-limit",
  ],
  [
    "parameter names drawn by chance",
    (url) => [1, 2].map((link) => `/list?${letters(`${url.search}${link}`)}=1`),
    300,
    "template-limit",
  ],
];
for (const [situation, site, most, reason] of traps)
  test(`${situation}: it ends, by ${reason}, and the honest pages are complete`, () => {
    const { pages, reasons } = crawled(withHonestPages(site), "http://site.test/");
    for (const path of HONEST) assert.ok(pages.includes(`http://site.test${path}`), path);
    const trapped = pages.length - HONEST.length - 1;
    assert.ok(trapped <= most, `${trapped} pages of the trap, ${most} at most; the last: ${pages.at(-1)}`);
    assert.ok(reasons.has(reason), [...reasons].join());
  });

test("an honest site of 240 pages in four sections is crawled whole, and nothing of it refused", () => {
  const sections = ["news", "shop", "people", "help"];
  const site: Site = () => sections.flatMap((name) => HONEST.map((path) => `/${name}${path}`));
  const { pages, reasons } = crawled(site, "http://site.test/");
  assert.equal(pages.length, 1 + sections.length * HONEST.length);
  assert.deepEqual([...reasons], []);
});

function withParameter(url: URL, name: string, value: number): string {
  const next = new URL(url);
  next.searchParams.set(name, String(value));
  return next.href;
}

function nextDay(day: string): string {
  const at = Date.parse(day);
  return new Date((Number.isNaN(at) ? 0 : at) + 86_400_000).toISOString().slice(0, 10);
}

/** Letters that follow from a text and look like chance. */
function letters(seed: string): string {
  return [...urlIdentity(seed).urlId.toLowerCase()]
    .filter((sign) => sign >= "a" && sign <= "z")
    .slice(0, 9)
    .join("");
}
