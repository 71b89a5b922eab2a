// Is the first of many patterns found that matches, in steps that hostile patterns cannot drive up? RFC 9309 2.2.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileGlobs, firstMatch } from "../../../core/robots/glob.ts";

/** The plainest correct matcher there is, for short inputs. */
function plainMatch(pattern: string, text: string): boolean {
  if (pattern === "" || pattern === "$") return pattern === "" || text === "";
  if (pattern[0] === "*") return plainMatch(pattern.slice(1), text) || (text !== "" && plainMatch(pattern, text.slice(1)));
  return pattern[0] === text[0] && plainMatch(pattern.slice(1), text.slice(1));
}

const matches = (pattern: string, text: string) => firstMatch(compileGlobs([pattern]), text, 1) === 0;

const pattern = fc
  .tuple(fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 }), fc.constantFrom("", "$"))
  .map((pair) => pair.join(""));
const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 });

test("a pattern matches as the plainest matcher says", () => {
  fc.assert(
    fc.property(pattern, text, (p, t) => matches(p, t) === plainMatch(p, t)),
    { numRuns: 2000 },
  );
});

test("of many patterns the first that matches is found, below the bound", () => {
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 12 }), text, fc.nat(12), (patterns, t, below) => {
      const first = patterns.findIndex((p) => plainMatch(p, t));
      assert.equal(firstMatch(compileGlobs(patterns), t, below), first >= 0 && first < below ? first : below);
    }),
    { numRuns: 2000 },
  );
});

test("each shape of pattern matches what it should", () => {
  const rows: [pattern: string, text: string, expected: boolean][] = [
    ["", "", true],
    ["", "/x", true],
    ["$", "/x", false],
    ["*", "", true],
    ["*$", "/x", true],
    ["/a$", "/a", true],
    ["/a$", "/ab", false],
    ["/a*$", "/a", true],
    ["/a*a$", "/a", false],
    ["/a*a$", "/aa", true],
    ["/a**b***c", "/a-b-c-d", true],
    ["*aab", "/aaab", true],
    ["*ab*ab", "/ab-a-b", false],
    ["*ab*b$", "/ab", false],
    ["/*/list/p=*/$", "/7/list/p=3/", true],
    ["/*/list/p=*/$", "/7/list/p=3/x", false],
  ];
  for (const [p, t, expected] of rows) assert.equal(matches(p, t), expected, `${p} ${t}`);
});

const FILE = 500 * 1024; // a robots.txt of the least limit, RFC 9309 2.5
const many = (length: number, patternOf: (at: number) => string) =>
  Array.from({ length: Math.floor(FILE / length) }, (_, at) => patternOf(at));

test("hostile patterns, one or a file full, cost steps in line with their own and the path's length (R23)", () => {
  const path = `/${"a".repeat(4096)}`;
  const files: [kind: string, patterns: string[]][] = [
    ["one run of stars", ["*******/*q=1*"]],
    ["one long alternation", [`/${"*a".repeat(2000)}b`]],
    ["one long part", [`/*${"a".repeat(2000)}b`]],
    ["one with many returns", [`/${"*aab".repeat(500)}$`]],
    ["one with many long parts", [`/${`*${"a".repeat(50)}b`.repeat(40)}`]],
    ["stars alone", [`${"*".repeat(4000)}$`]],
    ["many wildcards with different ends", many(16, (at) => `*a*b*${at}`)],
    ["many wildcards of single letters", many(24, () => "/*a*a*a*a*a*a*a*a*b")],
    ["many that need the whole path", many(2000, (at) => `${"*a".repeat(900)}*b${at}`)],
    ["many with long first parts", many(2000, (at) => `/${"a".repeat(1900)}*b${at}`)],
    ["many that end like the path", many(1000, (at) => `/*${at}*${"a".repeat(900)}$`)],
  ];
  for (const [kind, patterns] of files) {
    const steps = { count: 0 };
    firstMatch(compileGlobs(patterns), path, patterns.length, steps);
    const length = patterns.reduce((sum, each) => sum + each.length, 0);
    assert.ok(steps.count <= 2 * (length + path.length), `${steps.count} steps for ${kind}`);
  }
});

test("parts that each end the next cost the path's length times their number, which a file bounds to a thousand", () => {
  const path = `/${"a".repeat(4096)}`;
  const nested = Array.from({ length: 1000 }, (_, at) => `*${"a".repeat(at + 1)}*b`);
  const steps = { count: 0 };
  firstMatch(compileGlobs(nested), path, nested.length, steps);
  assert.ok(steps.count <= 1002 * path.length, `${steps.count} steps`);
});
