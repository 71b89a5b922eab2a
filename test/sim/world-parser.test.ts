import assert from "node:assert/strict";
import { test } from "node:test";
import { inlineParser } from "../../io/parsing/inline.ts";
import type { ParseRequest } from "../../schemas/parsed-page.ts";
import { markupOf, parsedOf, type SimPage } from "./pages.ts";
import { type Trap, traps } from "./traps.ts";
import { makeWorld, pageAt } from "./world.ts";
import { notePage, worldParser } from "./world-parser.ts";

const T = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const world = makeWorld({ seed: 9, hosts: 24, startAt: T, spanMs: 24 * HOUR });

const series: Record<Trap, string[]> = {
  facets: ["/find?f1=0", "/find?f1=0&f2=1&f11=2"],
  calendar: ["/cal/40"],
  echo: ["/echo?q=1", "/echo?q=1?q=1", "/echo?q=1&q=1"],
  anything: ["/any/", "/any/red/grey/", "/q99999", "/whatever/else?a=b/c"],
  sessions: ["/p3?sessionid=abc1"],
  growth: ["/g/one/", "/g/one/two/www.elsewhere.sim/"],
};

/** Some of every host, of each kind of page and path. */
const pages: SimPage[] = world.hosts.flatMap((host) =>
  ["/", "/p1", "/p5", "/p7", "/p15", "/q5", "/d2", ...(host.trap === undefined ? [] : series[host.trap])].map(
    (path) => pageAt(world, host, path, T + 100 * HOUR)!,
  ),
);

test("world: a dozen hosts have a series of each kind", () => {
  assert.deepEqual(new Set(world.hosts.slice(1, 13).flatMap(({ trap }) => trap ?? [])), new Set(traps));
});

const requestOf = (page: SimPage, bytes: Uint8Array): ParseRequest => ({
  url: `http://${page.host.name}${page.path}`,
  bytes,
  contentType: "text/html; charset=utf-8",
  robotsTags: [],
  productToken: "Gleaner",
  document: false,
});

test("world parser: what the world says of a page is what the real parser finds in it, to the last field", async () => {
  const real = inlineParser();
  for (const page of pages) {
    const bytes = markupOf(page);
    assert.deepEqual(parsedOf(page, bytes.length), await real.parse(requestOf(page, bytes)), page.path);
  }
});

test("world parser: a share of the pages is read, and a disagreement is told", async () => {
  const told: string[] = [];
  const counts = { pagesAnswered: 0, pagesRead: 0 };
  const real = inlineParser();
  const wrong = { ...real, parse: async (request: ParseRequest) => ({ ...(await real.parse(request)), title: "another" }) };
  const parser = worldParser(wrong as typeof real, (words) => told.push(words), counts);
  for (const page of pages) {
    const bytes = markupOf(page);
    notePage(bytes, page);
    await parser.parse(requestOf(page, bytes));
  }
  assert.equal(counts.pagesAnswered, pages.length);
  assert.ok(counts.pagesRead > 0 && counts.pagesRead < pages.length / 4);
  assert.equal(told.length, counts.pagesRead);
  assert.match(told[0]!, /"title"/);
});

test("world parser: bytes that are no page of the world's are read", async () => {
  const parser = worldParser(inlineParser(), (words) => assert.fail(words));
  const page = await parser.parse(requestOf(pages[0]!, Buffer.from("<title>mine</title>")));
  assert.ok(page.ok && page.title === "mine");
});

test("pages: mirrors are the same bytes at every host, copies are not, and versions of a page differ", () => {
  const at = (index: number, path: string, hours: number) =>
    Buffer.from(markupOf(pageAt(world, world.hosts[index]!, path, T + hours * HOUR)!)).toString();
  const mirrors = new Set(world.hosts.map(({ index }) => at(index, "/p15", 0)));
  assert.ok(mirrors.size > 1 && mirrors.size <= 4);
  const copies = world.hosts.map(({ index }) => at(index, "/p7", 0));
  assert.equal(new Set(copies).size, copies.length);
  const changing = world.hosts.find(({ changeMs }) => changeMs > 0)!;
  assert.notEqual(at(changing.index, "/p1", 0), at(changing.index, "/p1", 24 * 40));
});
