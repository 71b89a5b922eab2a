import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { defaultTrapLimits } from "../../../core/traps/trap-limits.ts";
import { nameOf, pairsOf, segmentsOf, urlParts } from "../../../core/traps/url-parts.ts";
import { urlShapeRefusal } from "../../../core/traps/url-shape.ts";
import { normalizeUrl } from "../../../core/url/normalize.ts";
import { limits } from "../../../schemas/limits.ts";

const H = "http://site.test";
const times = (count: number, text: string) => text.repeat(count);

/** A return address inside of a return address, so many levels deep. */
function wrapped(levels: number): string {
  let url = "/login";
  for (let level = 0; level < levels; level++) url = `/login?next=${encodeURIComponent(url)}`;
  return url;
}

const shapes: [situation: string, path: string, reason: string | undefined, from?: string][] = [
  ["a front page", "/", undefined],
  ["a URL as long as the limit", `/${"x".repeat(limits.urlLength - H.length - 1)}`, undefined],
  ["a longer one", `/${"x".repeat(limits.urlLength - H.length)}`, "url-length"],
  ["a path as deep as the limit", Array.from({ length: 20 }, (_, at) => `/s${at}`).join(""), undefined],
  ["a deeper path", Array.from({ length: 21 }, (_, at) => `/s${at}`).join(""), "path-depth"],
  ["slashes in a row are no depth", `/a${times(30, "/")}b`, undefined],
  ["as many parameters as the limit", `/?${Array.from({ length: 20 }, (_, at) => `p${at}=1`).join("&")}`, undefined],
  ["more parameters", `/?${Array.from({ length: 21 }, (_, at) => `p${at}=1`).join("&")}`, "parameters"],
  ["empty parameters count for nothing", `/?a=1${times(40, "&")}`, undefined],

  ["a directory in itself", "/a/a/page", undefined],
  ["and once more", "/a/a/a/page", "repeated-segments"],
  ["two directories, twice", "/a/b/a/b/page", undefined],
  ["two directories, three times", "/a/b/a/b/a/b", "repeated-segments"],
  ["a run in the middle", "/x/a/b/c/a/b/c/a/b/c/y", "repeated-segments"],
  ["the hours of a date", "/2011/11/11/11/events", undefined],
  ["numbers in a row without end", "/1/1/1/1/1", "repeated-segments"],
  ["a run of a number and a word", "/page/2/page/2/page/2", "repeated-segments"],
  ["one directory four times, spread", "/a/b/a/c/a/d/a", undefined],
  ["one directory five times, spread", "/a/b/a/c/a/d/a/e/a", "repeated-segments"],
  ["two directories again and again, in no order", "/a/b/b/a/c/b/a", "repeated-segments"],
  ["a package below a package of its name", "/com/foo/bar/src/main/java/com/foo/bar/Main.java", undefined],
  ["a repository named as its owner and its folder", "/django/django/tree/main/django/core", undefined],
  ["a run in another letter case is another path", "/a/A/a/A/x", undefined],

  ["a parameter three times", "/?tag=a&tag=b&tag=c", undefined],
  ["a parameter four times", "/?tag=a&tag=b&tag=c&tag=d", "echo"],
  ["T1: the page's own URL with one more ?q= glued to it", `/p${times(5, "?q=")}`, "echo"],
  ["T1: one more &q=", `/p?q=${times(5, "&q=")}`, "echo"],
  ["a return address in a return address", wrapped(2), undefined],
  ["return addresses without end", wrapped(6), "echo"],
  ["escaped equals signs of one text", "/?text=a%3Db%3Dc%3Dd%3De", undefined],
  ["T1 at once, where the page is known", "/p?q=1&q=1", "echo", "/p?q=1"],
  ["with ?q= glued, at once", "/p?q=?q=", "echo", "/p?q="],
  ["T1: one more &", "/p?q=1&", "echo", "/p?q=1"],
  ["another value of the same parameter is a page", "/p?q=1&q=2", undefined, "/p?q=1"],
  ["another parameter too", "/p?q=1&r=1", undefined, "/p?q=1"],
  ["a link to the page itself", "/p?q=1", undefined, "/p?q=1"],
  ["a longer value", "/p?q=11", undefined, "/p?q=1"],
  ["another page whose name begins like this one's", "/page?&", undefined, "/p"],
  ["a page without a query echoes nothing", "/p?q=1", undefined, "/p"],

  ["L6: a link without a scheme", "/www.other.test", undefined],
  ["L6: found on the page it led to", "/www.other.test/www.other.test", "relative-growth"],
  ["L6: two of them in turns", "/www.other.test/www.third.test", "relative-growth"],
  ["the site's own name twice", "/site.test/site.test/a", "relative-growth"],
  ["an archive's one host in the path", "/web/2020/http://www.other.test/a", undefined],
];
for (const [situation, path, reason, from] of shapes)
  test(`${situation} is ${reason ?? "taken"}`, () => {
    assert.equal(urlShapeRefusal(H + path, defaultTrapLimits, from && H + from), reason);
  });

test("each limit is the policy's", () => {
  const refusal = (path: string, change: Partial<typeof defaultTrapLimits>) =>
    urlShapeRefusal(H + path, { ...defaultTrapLimits, ...change });
  assert.equal(refusal("/abc", { urlLength: H.length + 3 }), "url-length");
  assert.equal(refusal("/a/b", { pathDepth: 1 }), "path-depth");
  assert.equal(refusal("/?a=1", { parameters: 0 }), "parameters");
  assert.equal(refusal("/a/a", { segmentRuns: 1 }), "repeated-segments");
  assert.equal(refusal("/a/b/a/c/b", { segmentRepeats: 1 }), "repeated-segments");
  assert.equal(refusal("/?a=1&b=1&a=2", { parameterRepeats: 1 }), "echo");
  assert.equal(refusal("/a/a/a/a/a", { segmentRuns: 9, segmentRepeats: 9 }), undefined);
});

const piece = fc.constantFrom("a", "b", "1", "/", "?", "&", "=", "%3F", "%253D", "%25", "www.x.test", "..", "é");
const someUrl = fc.array(piece, { maxLength: 60 }).map((pieces) => {
  const normal = normalizeUrl(`${H}/${pieces.join("")}`);
  return normal.ok ? normal.url : `${H}/`;
});

test("law: whatever the URL and the page, there is a verdict, the same each time", () => {
  fc.assert(
    fc.property(someUrl, someUrl, (url, from) => {
      const verdict = urlShapeRefusal(url, defaultTrapLimits, from);
      assert.equal(urlShapeRefusal(url, defaultTrapLimits, from), verdict);
      if (verdict === undefined) assert.ok(segmentsOf(urlParts(url).path).length <= limits.pathDepth);
    }),
  );
});

test("law: a path, a query or a host that grows by the same piece again and again is refused in the end", () => {
  const growing = fc.constantFrom("/dir", "/a/b", "/x/y/z", "/www.other.test", "/site.test/a", "/1");
  fc.assert(
    fc.property(someUrl, growing, fc.constantFrom("&q=", "&id=1", "?next=/p"), (start, path, query) => {
      const { hostKey } = urlParts(start);
      assert.notEqual(urlShapeRefusal(hostKey + path.repeat(21), defaultTrapLimits), undefined);
      assert.notEqual(urlShapeRefusal(`${hostKey}/p?q=${query.repeat(21)}`, defaultTrapLimits), undefined);
    }),
  );
});

test("law: the parts of a canonical URL are the URL", () => {
  fc.assert(
    fc.property(someUrl, (url) => {
      const { hostKey, path, query } = urlParts(url);
      assert.ok(url === hostKey + path || url === `${hostKey}${path}?${query}`, url);
      assert.ok(path.startsWith("/") && !path.includes("?"));
      for (const pair of pairsOf(query)) assert.ok(pair.startsWith(nameOf(pair)) && !nameOf(pair).includes("="));
    }),
  );
  assert.deepEqual(urlParts("http://h"), { hostKey: "http://h", path: "/", query: "" });
});
