// Does the scope keep the crawl where its seeds and patterns say?
import assert from "node:assert/strict";
import { test } from "node:test";
import { scopeRefusal, scopeRuleFault, seedScope } from "../../../core/url/scope.ts";
import type { ScopeMode } from "../../../schemas/crawl-config.ts";

const seeds = ["https://www.example.co.uk/start", "http://www.example.co.uk:8080/", "http://[::1]:81/"];

const bounds: [mode: ScopeMode, url: string, refusal: "scope" | undefined][] = [
  ["host", "http://www.example.co.uk:99/other", undefined],
  ["host", "http://example.co.uk/", "scope"],
  ["host", "https://[::1]/", undefined],
  ["domain", "http://shop.example.co.uk/", undefined],
  ["domain", "http://other.co.uk/", "scope"],
  ["domain", "http://www.example.co.uk.evil.example/", "scope"],
  ["any", "http://anywhere.test/", undefined],
];

for (const [mode, url, refusal] of bounds)
  test(`scope ${mode}: ${url} is ${refusal === undefined ? "taken" : "refused"}`, () => {
    assert.equal(scopeRefusal(seedScope(mode, seeds, []), url), refusal);
  });

test("a scope lists each host and domain of its seeds once", () => {
  const { hosts, domains } = seedScope("host", seeds, []);
  assert.deepEqual(
    [hosts, domains],
    [
      ["www.example.co.uk", "[::1]"],
      ["example.co.uk", "[::1]"],
    ],
  );
});

const host = "http://example.org";
const include = (pattern: string) => ({ action: "include" as const, pattern });
const exclude = (pattern: string) => ({ action: "exclude" as const, pattern });

const ruled: [situation: string, rules: ReturnType<typeof include | typeof exclude>[], path: string, excluded: boolean][] = [
  ["no rule takes all", [], "/a", false],
  ["an exclude rule excludes what it matches", [exclude("**/private/**")], "/x/private/y", true],
  ["an exclude rule takes the rest", [exclude("**/private/**")], "/x", false],
  ["an include rule excludes the rest", [include(`${host}/docs/**`)], "/blog", true],
  ["of two matching rules the last wins", [exclude("**.pdf"), include("**/keep.pdf")], "/keep.pdf", false],
  ["also the other way round", [include("**/keep.pdf"), exclude("**.pdf")], "/keep.pdf", true],
];

for (const [situation, rules, path, excluded] of ruled)
  test(situation, () => {
    assert.equal(scopeRefusal(seedScope("host", [`${host}/`], rules), host + path), excluded ? "excluded" : undefined);
  });

test("an include rule does not reach beyond the bound", () => {
  assert.equal(scopeRefusal(seedScope("host", [`${host}/`], [include("**")]), "http://other.test/"), "scope");
});

test("a pattern that no URL can match is a fault", () => {
  assert.match(scopeRuleFault("/private/**") ?? "", /no URL/);
  assert.match(scopeRuleFault("") ?? "", /empty/);
  for (const pattern of ["**/x", "*://h/", "http*://h/", "https://h/**", "http://h"])
    assert.equal(scopeRuleFault(pattern), undefined);
});
