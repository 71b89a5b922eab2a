// Do the faults that crawlers in the field have shown stay away from links, markup and sitemaps? The L and S cases, each as a test of its kind.
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { candidatesOf } from "../../../core/frontier/candidates.ts";
import { decodeMarkup } from "../../../core/html/charset.ts";
import { parseSitemap, type SitemapOptions } from "../../../core/sitemap/parse.ts";
import { limits } from "../../../schemas/limits.ts";
import { discover } from "../../../transforms/discover.ts";
import { pageOf } from "../../core/html/page-of.ts";
import { bundle } from "../../transforms/contexts.ts";
import { addUrl, allowAll, pageLease, robotsLease, runLease } from "../../transforms/fetch/leases.ts";
import { crawlConfig, discoveries, dueEntries, world } from "../../transforms/world.ts";
import { type FieldCase, fieldCases } from "./field-cases.ts";

const PAGE = "http://example.org/d/me.html";
const linksOf = (markup: string, url = PAGE) => pageOf(markup, { url }).links;

const SITEMAP = "https://example.org/maps/s.xml";
const urlset = (inner: string) => `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${inner}</urlset>`;
const entry = (location: string) => `<url><loc>${location}</loc></url>`;

function listed(text: string | Uint8Array, options: SitemapOptions = {}, url = SITEMAP): unknown[] {
  const parsed = parseSitemap(Buffer.from(text as string), url, "text/xml", options);
  if (parsed.kind === "urls") return parsed.entries;
  return parsed.kind === "index" ? parsed.sitemaps : [parsed];
}

const cases: FieldCase[] = [
  {
    id: "L2",
    holds: "a base without a folder loses no folder of the page",
    check() {
      for (const base of ["me.html", "./me.html", "other.html", "?x"]) {
        const file = base.includes("other") ? "other.html" : "me.html";
        assert.deepEqual(linksOf(`<base href="${base}"><a href="?k=v">`), [`http://example.org/d/${file}?k=v`], base);
      }
    },
  },
  {
    id: "L4",
    holds: "a base that names no place is as none",
    check() {
      for (const base of ["//", "http://", "https://[", "http://a b/", "javascript:0", "data:,x"])
        assert.deepEqual(linksOf(`<base href="${base}"><a href=x>`), ["http://example.org/d/x"], base);
    },
  },
  {
    id: "L6",
    holds: "a host name taken for a path, on a server that answers everything, comes to an end",
    check() {
      const config = crawlConfig();
      let url = "http://example.org/";
      for (let depth = 1; depth <= config.depthMax + 1; depth++) {
        const urls = linksOf(`<a href="www.other.test/">`, url);
        const { candidates } = candidatesOf({ source: "link", depth, hops: 0, kind: "page", urls, from: url }, config);
        if (candidates.length === 0) return;
        url = candidates[0]!.canonicalUrl;
      }
      assert.fail(`goes on at ${url}`);
    },
  },
  {
    id: "L8",
    holds: "an address in a long attribute is whole or not there",
    check() {
      for (const chars of [1_000, 3_000, limits.attributeChars, limits.attributeChars + 1, 100_000]) {
        const long = `http://example.org/${"x".repeat(chars)}`;
        const { links, refused } = pageOf(`<a href="${long}"></a><a href="/ok">`, { url: PAGE });
        const kept = long.length <= limits.urlLength;
        assert.deepEqual(links, [...(kept ? [long] : []), "http://example.org/ok"]);
        assert.equal(refused.malformed, kept ? 0 : 1);
      }
    },
  },
  {
    id: "L10",
    holds: "a charset that any end cuts off ends in an encoding",
    check() {
      const whole = `<meta http-equiv=content-type content="text/html; charset=koi8-r">`;
      for (const window of [1024, 16 * 1024])
        for (let cut = 0; cut <= whole.length; cut++) {
          const padded = `${" ".repeat(window - cut)}${whole}`;
          for (const markup of [padded, padded.slice(0, window)])
            assert.match(decodeMarkup(Buffer.from(markup), undefined).charset, /^(utf-8|koi8-r)$/);
        }
    },
  },
  {
    id: "L12",
    holds: "a base of many-byte characters, wherever it lies, resolves",
    check() {
      for (let blanks = 1000; blanks < 1030; blanks++)
        for (const pad of [1024, 16 * 1024, 64 * 1024])
          assert.deepEqual(linksOf(`${" ".repeat(pad - 1024 + blanks)}<base href="/漢/é/"><a href="ü">`), [
            "http://example.org/%E6%BC%A2/%C3%A9/%C3%BC",
          ]);
    },
  },
  {
    id: "L14",
    holds: "a wish not to be followed is heard in any case and among others",
    check() {
      for (const meta of [`<META NAME="ROBOTS" CONTENT="NOFOLLOW">`, `<mEtA nAmE=" robots " cOnTeNt="a,NoFollow;b">`])
        assert.deepEqual([pageOf(meta).nofollow, linksOf(`${meta}<a href=x>`)], [true, []]);
      for (const rel of ["ugc nofollow", "NOFOLLOW", "nofollow\nugc", "sponsored\tnofollow"])
        assert.deepEqual(linksOf(`<a rel="${rel}" href=x><a rel="ugc" href=y>`), ["http://example.org/d/y"], rel);
    },
  },
  {
    id: "S1",
    holds: "blanks before the first character of a sitemap are passed over",
    check() {
      for (const blanks of ["\n", "\r\n \t", "\ufeff\n", " ".repeat(40_000)])
        assert.equal(listed(`${blanks}<?xml version="1.0"?>${urlset(entry("/a"))}`).length, 1);
    },
  },
  {
    id: "S3",
    holds: "whether a sitemap is packed is told by its bytes, not by its name or type",
    check() {
      const url = "https://example.org/s.xml.gz";
      const of = (bytes: Uint8Array) => parseSitemap(bytes, url, "application/gzip").kind;
      assert.equal(of(Buffer.from(urlset(entry("/a")))), "urls");
      assert.equal(of(Buffer.from("<!doctype html><title>404</title>")), "error");
      assert.equal(of(gzipSync(urlset(entry("/a")))), "gzip");
      assert.equal(parseSitemap(gzipSync(urlset("")), "https://example.org/s.xml", "text/xml").kind, "gzip");
    },
  },
  {
    id: "S5",
    holds: "nothing of an entry without a location reaches the next, and a date that is none is dropped alone",
    check() {
      const bare = "<url><lastmod>2027-01-01</lastmod><priority>0.9</priority></url>";
      const dated = `<url><loc>https://example.org/b</loc><lastmod>last week</lastmod><priority>0.4</priority></url>`;
      assert.deepEqual(listed(urlset(`${bare}${entry("/a")}${dated}`)), [
        { url: "https://example.org/a" },
        { url: "https://example.org/b", priority: 0.4 },
      ]);
    },
  },
  {
    id: "S7",
    holds: "an index that repeats a child, or lists itself, asks for each once",
    async check() {
      const child = (location: string) => `<sitemap><loc>${location}</loc></sitemap>`;
      const text = `<sitemapindex>${child("/1.xml").repeat(3)}${child(SITEMAP)}${child("/1.xml#x")}</sitemapindex>`;
      assert.deepEqual(listed(text), [{ url: "https://example.org/1.xml" }]);
      const given = world();
      const fn = discover.make(crawlConfig(), given.services);
      const message = { source: "sitemap", depth: 1, hops: 0, kind: "sitemap", urls: ["https://example.org/1.xml"] } as const;
      await fn.startBundle?.();
      for (let times = 0; times < 3; times++) await fn.process({ ...message, urls: [...message.urls] }, bundle());
      await fn.finishBundle?.(bundle());
      assert.equal((await dueEntries(given)).length, 1);
    },
  },
  {
    id: "S9",
    holds: "a priority that is none counts as not given",
    check() {
      for (const priority of ["NaN", "Infinity", "-1", "1.1", "high", "", "1e-1", "0x1", ".", "٠.٥"])
        assert.deepEqual(listed(urlset(`<url><loc>/a</loc><priority>${priority}</priority></url>`)), [
          { url: "https://example.org/a" },
        ]);
    },
  },
  {
    id: "S11",
    holds: "a sitemap that moved is read as a sitemap, at home where it is now",
    async check() {
      const [old, moved] = ["http://a.test/s.xml", "http://a.test/maps/new.xml"];
      const list = urlset(["http://a.test/1", "https://a.test/2", "http://b.test/3"].map(entry).join(""));
      const given = world({
        site: {
          [old]: { status: 301, headers: { location: moved } },
          [moved]: { status: 200, headers: { "content-type": "text/xml" }, body: list },
        },
      });
      await allowAll(given.services);
      await addUrl(given.services, { canonicalUrl: old, kind: "sitemap" });
      await runLease(given, pageLease({ url: old, kind: "sitemap" }));
      const [told] = await discoveries(given);
      assert.deepEqual([told?.kind, told?.urls], ["sitemap", [moved]]);
      await addUrl(given.services, { canonicalUrl: moved, kind: "sitemap", hops: told!.hops });
      await given.clock.run(given.clock.now() + 60_000);
      const now = given.clock.now();
      await runLease(
        given,
        pageLease({ url: moved, kind: "sitemap", leaseId: "lease-2", notBefore: now, startBy: now + 60_000 }),
      );
      assert.deepEqual(
        (await discoveries(given)).map(({ kind, urls }) => [kind, urls]),
        [["page", ["http://a.test/1", "https://a.test/2"]]],
      );
    },
  },
  {
    id: "S13",
    holds: "another host's URLs are dropped, unless that host has named the sitemap",
    check() {
      const text = urlset(["https://example.org/a", "https://www.example.org/b", "https://other.test/c"].map(entry).join(""));
      assert.deepEqual(listed(text), [{ url: "https://example.org/a" }]);
      assert.equal(listed(text, { allowHosts: ["other.test"] }).length, 2);
    },
  },
  {
    id: "S15",
    holds: "sitemaps that robots.txt names are found, relative ones against the file",
    async check() {
      const robots = "http://a.test/robots.txt";
      const body = "Sitemap: /s.xml\nUser-agent: *\nSitemap: https://a.test/t.xml\nSitemap: maps/u.xml\nSitemap: http://\n";
      const given = world({
        config: { sitemaps: true },
        site: { [robots]: { status: 200, headers: { "content-type": "text/plain" }, body } },
      });
      await runLease(given, robotsLease());
      const told = (await discoveries(given)).flatMap(({ kind, urls }) => (kind === "sitemap" ? urls : []));
      assert.deepEqual(told, ["http://a.test/s.xml", "https://a.test/t.xml", "http://a.test/maps/u.xml"]);
    },
  },
];

fieldCases("field cases L and S: links, markup, sitemaps", cases);
