// Does a pattern match what it says, in linear time?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileGlob, globFault } from "../../../core/url/glob.ts";
import { limits } from "../../../schemas/limits.ts";

const rows: [pattern: string, text: string, matches: boolean][] = [
  ["http://h/a", "http://h/a", true],
  ["http://h/a", "http://h/ab", false],
  ["h/a", "http://h/a", false],
  ["http://h/*", "http://h/", true],
  ["http://h/*", "http://h/a/b", false],
  ["http://h/**", "http://h/a/b", true],
  ["http://h/*/c", "http://h/b/c", true],
  ["http://h/**/c", "http://h/a/b/c", true],
  ["http://h/**/c", "http://h/c", false],
  ["http://h/a?b=*", "http://h/a?b=1", true],
  ["http://h/a?b", "http://h/axb", false],
  ["**.pdf", "http://h/a/b.pdf", true],
  ["**.pdf", "http://h/a.pdf/b", false],
  ["http://h/[ab]", "http://h/a", false],
  ["*", "", true],
  ["***", "a/b", true],
];

for (const [pattern, text, matches] of rows)
  test(`'${pattern}' ${matches ? "matches" : "does not match"} '${text}'`, () => {
    assert.equal(compileGlob(pattern)(text), matches);
  });

test("law: a glob agrees with the regular expression that says the same", () => {
  const piece = fc.constantFrom("a", "b", "/", "*", "**", "?", ".");
  const text = fc.array(fc.constantFrom("a", "b", "/", "?", "."), { maxLength: 10 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 7 }), text, (pieces, subject) => {
      const pattern = pieces.join("");
      const source = pattern.replaceAll(/\*\*+|[*?./]/g, (part) =>
        part === "*" ? "[^/]*" : part[0] === "*" ? ".*" : `\\${part}`,
      );
      assert.equal(compileGlob(pattern)(subject), new RegExp(`^${source}$`).test(subject), pattern);
    }),
    { numRuns: 3000 },
  );
});

test("a pattern of many wildcards costs no more than pattern times text", () => {
  // Backtracking would need more than 10^12 steps for this.
  assert.equal(compileGlob(`${"*a".repeat(30)}**b`)("a".repeat(4000)), false);
});

test("what cannot be a pattern is said", () => {
  assert.match(globFault("") ?? "", /empty/);
  assert.match(globFault("http://h/a b") ?? "", /space/);
  assert.match(globFault("x".repeat(limits.urlLength + 1)) ?? "", /longer/);
  assert.equal(globFault("http://h/**"), undefined);
});
