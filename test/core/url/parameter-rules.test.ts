import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { normalizeUrl } from "../../../core/url/normalize.ts";
import { applyParameterRules } from "../../../core/url/parameter-rules.ts";
import { type ParameterRule, parameterRules } from "../../../schemas/crawl-config.ts";

const H = "http://site.test";

const rows: [rule: ParameterRule, before: string, after: string][] = [
  ["session-ids", "/a?PHPSESSID=1f2e&x=1", "/a?x=1"],
  ["session-ids", "/a;jsessionid=0A1B?x=1", "/a?x=1"],
  ["session-ids", "/a/b;JSESSIONID=0A1B/c", "/a/b/c"],
  ["session-ids", "/a?sid=0123456789abcdef0123", "/a"],
  ["session-ids", "/a?sid=shoes", "/a?sid=shoes"],
  ["session-ids", "/a?s=running-shoes-for-winter-2030", "/a?s=running-shoes-for-winter-2030"],
  ["session-ids", "/a?ASPSESSIONIDQQGR=abc", "/a"],
  ["session-ids", "/(S(abcdefghij0123456789abcd))/page", "/page"],
  ["session-ids", "/(S(abcdefghij0123456789abcd))", "/"],
  ["session-ids", "/(S(short))/page", "/(S(short))/page"],
  ["session-ids", "/a?consider=1&session=on", "/a?consider=1&session=on"],
  ["tracking-parameters", "/a?utm_source=x&id=1&UTM_Medium=y&gclid=2", "/a?id=1"],
  ["tracking-parameters", "/a?fbclid=1", "/a"],
  ["tracking-parameters", "/a?utm=1&utmost=2&agclid=3", "/a?utm=1&utmost=2&agclid=3"],
  ["tracking-parameters", "/a?x=utm_source%3D1", "/a?x=utm_source%3D1"],
  ["parameter-order", "/a?c=1&a=2&b=3", "/a?a=2&b=3&c=1"],
  ["parameter-order", "/a?b=2&a=1&b=1", "/a?a=1&b=2&b=1"],
  ["parameter-order", "/a?b&a", "/a?a&b"],
  ["trailing-slash", "/a/b/", "/a/b"],
  ["trailing-slash", "/a//?x=/", "/a?x=/"],
  ["trailing-slash", "/", "/"],
  ["trailing-slash", "//", "/"],
];
for (const [rule, before, after] of rows)
  test(`${rule}: ${before} is ${after}`, () => {
    assert.equal(applyParameterRules(H + before, [rule]), H + after);
  });

const hosts: [before: string, after: string][] = [
  ["https://www.example.org/www.a", "https://example.org/www.a"],
  ["http://www.shop.example.co.uk:8080/", "http://shop.example.co.uk:8080/"],
  ["http://www.www.example.org/", "http://example.org/"],
  ["http://www.co.uk/", "http://www.co.uk/"],
  ["http://www.test/", "http://www.test/"],
  ["http://www2.example.org/", "http://www2.example.org/"],
  ["http://www.github.io/", "http://www.github.io/"],
  ["http://192.0.2.7/", "http://192.0.2.7/"],
  ["http://[::1]/", "http://[::1]/"],
];
for (const [before, after] of hosts)
  test(`www: ${before} is ${after}`, () => {
    assert.equal(applyParameterRules(before, ["www"]), after);
  });

test("no rule is on by itself", () => {
  const url = "http://www.example.org/a/;jsessionid=1?utm_source=x&b=1&a=2";
  assert.equal(applyParameterRules(url, []), url);
});

test("all rules together give one spelling", () => {
  const spellings = ["http://www.example.org/a/?b=1&utm_source=x&a=2", "http://example.org/a;jsessionid=77?a=2&b=1&gclid=4"];
  for (const url of spellings) assert.equal(applyParameterRules(url, parameterRules), "http://example.org/a?a=2&b=1");
});

test("a rule that would leave dots for a segment, which a parser reads as a step up, leaves the URL", () => {
  const url = `${H}/a/..;jsessionid=1/b`;
  const normal = normalizeUrl(url);
  assert.ok(normal.ok);
  assert.equal(applyParameterRules(normal.url, ["session-ids"]), normal.url);
});

const pieces = fc.constantFrom(
  ...[
    "a",
    "b",
    "/",
    "//",
    ".",
    "..",
    "%2E%2E",
    "?",
    "&",
    "&&",
    "=",
    ";jsessionid=1",
    ";sid=2;",
    "utm_source=1",
    "PHPSESSID=",
    "?",
  ],
  ...["/(S(abcdefghij0123456789))", "sid=0123456789abcdef", "%26", "+", "é", "www.", "%", "%4"],
);
const hostNames = fc.constantFrom("site.test", "www.example.org", "www.www.example.co.uk:81", "www.com", "[::1]", "10.0.0.1");
const someUrl = fc.tuple(hostNames, fc.array(pieces, { maxLength: 14 })).map(([host, parts]) => {
  const normal = normalizeUrl(`http://${host}/${parts.join("")}`);
  return normal.ok ? normal.url : `http://${host}/`;
});
const someRules = fc.shuffledSubarray([...parameterRules]);

test("law: rules are idempotent, free of the order of their names, and leave a URL canonical and no longer", () => {
  fc.assert(
    fc.property(someUrl, someRules, (url, rules) => {
      const once = applyParameterRules(url, rules);
      assert.equal(applyParameterRules(once, rules), once);
      assert.equal(applyParameterRules(url, [...rules].reverse()), once);
      assert.deepEqual(normalizeUrl(once), { ok: true, url: once });
      assert.ok(once.length <= url.length);
    }),
    { numRuns: 1_000 },
  );
});

test("law: two URLs that differ in the order of parameters alone are one", () => {
  const pairs = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(pairs, fc.nat(), (names, turn) => {
      const url = (order: string[]) => `${H}/?${order.map((name) => `${name}=1`).join("&")}`;
      const turned = [...names.slice(turn % names.length), ...names.slice(0, turn % names.length)];
      const one = applyParameterRules(url(names), ["parameter-order"]);
      assert.equal(applyParameterRules(url(turned), ["parameter-order"]), one);
    }),
  );
});
