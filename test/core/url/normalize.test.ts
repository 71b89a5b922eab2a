// Does one page have one URL, and no two pages the same?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { normalizeUrl } from "../../../core/url/normalize.ts";
import { limits } from "../../../schemas/limits.ts";

function spelled(raw: string, base?: string): string {
  const result = normalizeUrl(raw, base);
  return result.ok ? result.url : result.reason;
}

const rows: [situation: string, raw: string, expected: string][] = [
  ["an escaped unreserved character is decoded (U2)", "http://example.org/a%2db/?q=f", "http://example.org/a-b/?q=f"],
  ["hex digits are upper case", "http://example.org/%c3%a9?%c3", "http://example.org/%C3%A9?%C3"],
  ["a reserved character stays escaped", "http://example.org/a%2Fb%3fc?x=%26", "http://example.org/a%2Fb%3Fc?x=%26"],
  ["a scheme alone is refused (U4)", "http:/", "malformed"],
  ["a scheme with slashes is refused (U4)", "http://", "malformed"],
  ["a query needs no path (U6, U18)", "http://example.org?x=1", "http://example.org/?x=1"],
  [
    "a path and query keep their order and characters (U8)",
    "http://example.org/a&b/c?y=2&x=1",
    "http://example.org/a&b/c?y=2&x=1",
  ],
  [
    "a label outside IDNA2003 has one ASCII form (U10)",
    "http://straße☃.example.org/",
    "http://xn--strae-oqa1767d.example.org/",
  ],
  ["a port that is not the default stays (U12)", "https://example.org:8080/", "https://example.org:8080/"],
  ["the default port goes", "https://example.org:443/", "https://example.org/"],
  ["escaped dot segments are resolved (U14)", "http://example.org/a/%2E%2e/b", "http://example.org/b"],
  ["dots inside a name stay (U14)", "http://example.org/a/..b", "http://example.org/a/..b"],
  ["an escape cannot hide another", "http://example.org/%252e%252E/b", "http://example.org/%252e%252E/b"],
  ["an underscore in a host is no fault (U16)", "http://a_b.example.org/", "http://a_b.example.org/"],
  ["credentials go", "http://me:secret@example.org/", "http://example.org/"],
  ["the fragment goes", "http://example.org/a?b#c?d", "http://example.org/a?b"],
  ["an empty query is not none", "http://example.org/a?#x", "http://example.org/a?"],
  ["the dot that ends a host goes", "http://example.org./a", "http://example.org/a"],
  ["the dot goes before a port too", "http://example.org.:81/a", "http://example.org:81/a"],
  ["two dots end no host", "http://example.org../a", "malformed"],
  ["a dot is no host", "http://./a", "malformed"],
  ["an IPv4 address has one form", "http://0x7f.1/", "http://127.0.0.1/"],
  ["an IPv6 address has one form", "http://[0:0::1]:80/", "http://[::1]/"],
  ["mail is no page", "mailto:a@example.org", "scheme"],
  ["a long data URL is another scheme, not a long URL", `data:,${"x".repeat(100_000)}`, "scheme"],
  ["a stray percent sign stays", "http://example.org/100%/%zz", "http://example.org/100%/%zz"],
  ["nothing is decoded into a stray percent sign's escape", "http://example.org/%2%45", "http://example.org/%2%45"],
  ["nor behind two of them", "http://example.org/%%34%31", "http://example.org/%%341"],
];

for (const [situation, raw, expected] of rows)
  test(`normalizeUrl: ${situation}`, () => {
    assert.equal(spelled(raw), expected);
  });

test("a URL of the greatest length passes, one character more does not", () => {
  const longest = `http://example.org/${"x".repeat(limits.urlLength - "http://example.org/".length)}`;
  assert.deepEqual([spelled(longest), spelled(`${longest}x`)], [longest, "url-length"]);
  assert.equal(spelled(`http://example.org/${"%41".repeat(limits.urlLength / 2)}`).length, 1043);
});

test("a reference is resolved against its base", () => {
  assert.equal(spelled("../%7Eme?x#y", "http://example.org/a/b/c"), "http://example.org/a/~me?x");
  assert.equal(spelled("//other.example/", "https://example.org/"), "https://other.example/");
  assert.equal(spelled("a", "no base"), "malformed");
});

const hostile = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("%", "2", "4", "1", "e", "E", "f", ".", "/", "?", "%2e", "a", "\\", "é", ":", "@", "[", "\t"), {
      maxLength: 24,
    })
    .map((parts) => `http://example.org${parts.join("")}`),
);

test("law: the canonical form is its own canonical form, for Gleaner and for the WHATWG parser", () => {
  fc.assert(
    fc.property(hostile, (raw) => {
      const once = normalizeUrl(raw);
      if (!once.ok) return;
      assert.equal(spelled(once.url), once.url);
      assert.equal(URL.parse(once.url)?.href, once.url);
    }),
    { numRuns: 2000 },
  );
});

test("law: decoding all escapes gives the same text before and after", () => {
  const decoded = (url: string) =>
    url.replaceAll(/%[0-9a-f]{2}/gi, (triplet) => String.fromCharCode(Number.parseInt(triplet.slice(1), 16)));
  const path = fc.array(fc.constantFrom("a", "b/", "%2f", "%41", "%7e", "%C3", "-", "x"), { maxLength: 20 });
  fc.assert(
    fc.property(path, (parts) => {
      const raw = `http://example.org/${parts.join("")}`;
      assert.equal(decoded(spelled(raw)), decoded(raw));
    }),
  );
});
