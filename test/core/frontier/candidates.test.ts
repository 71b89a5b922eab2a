import assert from "node:assert/strict";
import { test } from "node:test";
import { candidatesOf, newUrl } from "../../../core/frontier/candidates.ts";
import { defaultTrapLimits } from "../../../core/traps/trap-limits.ts";
import { urlIdentity } from "../../../core/url/keys.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import { limits } from "../../../schemas/limits.ts";
import type { DiscoverMessage } from "../../../schemas/messages.ts";
import { urlState } from "../../../schemas/url-state.ts";
import { crawlConfig } from "../../transforms/world.ts";
import { NOW } from "./given.ts";

const scope = (change: Partial<CrawlConfig["scope"]>): CrawlConfig =>
  crawlConfig({ scope: { mode: "host", hosts: ["example.org"], domains: ["example.org"], rules: [], ...change } });
const message = (urls: string[], change: Partial<DiscoverMessage> = {}): DiscoverMessage => ({
  source: "link",
  from: "http://example.org/",
  depth: 1,
  hops: 0,
  kind: "page",
  urls,
  ...change,
});
const excluding = scope({ rules: [{ action: "exclude", pattern: "http://example.org/print**" }] });

const refusals: [situation: string, config: CrawlConfig, message: DiscoverMessage, reason: string, hostKey: string][] = [
  ["no URL", scope({}), message(["::"]), "malformed", ""],
  ["without a host", scope({}), message(["http://"]), "malformed", ""],
  ["not http", scope({}), message(["mailto:a@example.org"]), "scheme", ""],
  ["another host", scope({}), message(["http://www.example.org/"]), "scope", "http://www.example.org"],
  [
    "a seed that redirects to another site (H17)",
    scope({}),
    message(["https://example.net/"], { source: "redirect", depth: 0, hops: 1 }),
    "scope",
    "https://example.net",
  ],
  ["another domain", scope({ mode: "domain" }), message(["http://example.net/"]), "scope", "http://example.net"],
  ["excluded", excluding, message(["http://example.org/print/1"]), "excluded", "http://example.org"],
  ["too deep", scope({}), message(["http://example.org/a"], { depth: 6 }), "depth", "http://example.org"],
  [
    "too many redirects",
    scope({}),
    message(["http://example.org/a"], { hops: limits.redirectHops + 1 }),
    "redirect-hops",
    "http://example.org",
  ],
];
for (const [situation, config, given, reason, hostKey] of refusals)
  test(`no candidate: ${situation}`, () => {
    const { candidates, refusals: told } = candidatesOf(given, config);
    assert.deepEqual(candidates, []);
    assert.deepEqual(
      told.map((refusal) => [refusal.reason, refusal.hostKey]),
      [[reason, hostKey]],
    );
  });

test("the longest URL is taken, one character more is refused, and neither fills an event", () => {
  const long = `http://example.org/${"a".repeat(limits.urlLength - 19)}`;
  assert.equal(long.length, limits.urlLength);
  assert.equal(candidatesOf(message([long]), scope({})).candidates.length, 1);
  const { refusals: told } = candidatesOf(message([`${long}a`]), scope({}));
  assert.equal(told[0]?.reason, "url-length");
  assert.ok(told[0]!.url.length <= limits.urlLength);
});

test("what the bounds just admit becomes a candidate", () => {
  const given = message(["http://example.org:8080/a"], { depth: 5, hops: limits.redirectHops });
  assert.equal(candidatesOf(given, scope({})).candidates.length, 1);
  assert.equal(candidatesOf(message(["http://a.example.org/"]), scope({ mode: "domain" })).candidates.length, 1);
  assert.equal(candidatesOf(message(["http://example.net/"]), scope({ mode: "any" })).candidates.length, 1);
});

test("a sitemap serves pages that the patterns are about, and need not match them; its host still has to", () => {
  const sitemap = message(["http://example.org/print.xml"], { kind: "sitemap", source: "sitemap", depth: 0 });
  assert.equal(candidatesOf(sitemap, excluding).candidates.length, 1);
  assert.equal(candidatesOf({ ...sitemap, urls: ["http://example.net/s.xml"] }, excluding).candidates.length, 0);
});

test("a URL that is named in several ways becomes one candidate, with the keys of its canonical form", () => {
  const { candidates } = candidatesOf(
    message(["HTTP://Example.org:80/a/../b#top", "http://example.org/b", "https://example.org/b"]),
    scope({}),
  );
  assert.deepEqual(candidates, [
    {
      canonicalUrl: "http://example.org/b",
      ...urlIdentity("http://example.org/b"),
      hostKey: "http://example.org",
      paceKey: "example.org",
      limits: { ...defaultTrapLimits, depthMax: 5 },
    },
    {
      canonicalUrl: "https://example.org/b",
      ...urlIdentity("https://example.org/b"),
      hostKey: "https://example.org",
      paceKey: "example.org",
      limits: { ...defaultTrapLimits, depthMax: 5 },
    },
  ]);
});

test("one bad link takes nothing from the others", () => {
  const { candidates, refusals: told } = candidatesOf(
    message(["http://example.org/a", "::", "http://example.net/", "http://example.org/b"]),
    scope({}),
  );
  assert.equal(candidates.length, 2);
  assert.equal(told.length, 2);
});

test("seeds and sitemaps are urgent, links and redirects are not; all are due at once", () => {
  const [candidate] = candidatesOf(message(["http://example.org/a"]), scope({})).candidates;
  const record = (change: Partial<DiscoverMessage>) => newUrl(candidate!, message([], change), NOW);
  assert.equal(record({ source: "seed" }).priority, 0);
  assert.equal(record({ source: "sitemap", kind: "sitemap" }).priority, 0);
  assert.equal(record({ source: "sitemap" }).priority, 1);
  assert.equal(record({ source: "link" }).priority, 1);
  const redirected = record({ source: "redirect", depth: 2, hops: 3 });
  assert.deepEqual([redirected.priority, redirected.depth, redirected.hops], [1, 2, 3]);
  assert.deepEqual([redirected.nextFetchAt, redirected.discoveredAt, redirected.version], [NOW, NOW, 0]);
  assert.equal(urlState.fault(redirected, ""), undefined);
});

test("a URL that is known is passed over, in whichever spelling it comes", () => {
  const known = new Set(["http://example.org/a"]);
  const given = message(["http://example.org/a", "http://EXAMPLE.org:80/a", "http://example.org/b"]);
  const { candidates, refusals } = candidatesOf(given, scope({}), (url) => known.has(url));
  assert.deepEqual([candidates.map(({ canonicalUrl }) => canonicalUrl), refusals], [["http://example.org/b"], []]);
});

test("the shape of a link is judged with the page it stands on; that of a seed is nobody's accident", () => {
  const endless = "http://example.org/a/b/a/b/a/b/a/b";
  assert.equal(candidatesOf(message([endless]), scope({})).refusals[0]?.reason, "repeated-segments");
  assert.equal(candidatesOf(message([endless], { source: "seed", depth: 0 }), scope({})).candidates.length, 1);
  const from = "http://example.org/?q=1";
  assert.equal(candidatesOf(message([`${from}&q=1`], { from }), scope({})).refusals[0]?.reason, "echo");
});

const vouchers: [situation: string, change: Partial<DiscoverMessage>, vouchedBy: string | undefined][] = [
  ["the robots.txt of another host", { source: "sitemap", from: "http://www.example.net/robots.txt" }, "www.example.net"],
  ["a redirect of another host", { source: "redirect", from: "https://www.example.net/sitemap.xml" }, "www.example.net"],
  ["its own host's robots.txt", { source: "sitemap", from: "http://example.org/robots.txt" }, undefined],
  ["somebody who typed it", { source: "seed" }, undefined],
  ["a page, which is none", { source: "link", kind: "page", from: "http://www.example.net/" }, undefined],
];
for (const [situation, change, vouchedBy] of vouchers)
  test(`a sitemap that was found through ${situation} may list the URLs of ${vouchedBy ?? "its own host alone"}`, () => {
    const found = message(["http://example.org/s.xml"], { kind: "sitemap", ...change });
    const [candidate] = candidatesOf(found, scope({})).candidates;
    assert.equal(newUrl(candidate!, found, 5).vouchedBy, vouchedBy);
  });
