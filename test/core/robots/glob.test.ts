// Does a pattern match what it should, in steps that its own length and the text's bound? RFC 9309 2.2.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { globMatches, parseGlob } from "../../../core/robots/glob.ts";

/** The plainest correct matcher there is, for short inputs. */
function plainMatch(pattern: string, text: string): boolean {
  if (pattern === "" || pattern === "$") return pattern === "" || text === "";
  if (pattern[0] === "*") return plainMatch(pattern.slice(1), text) || (text !== "" && plainMatch(pattern, text.slice(1)));
  return pattern[0] === text[0] && plainMatch(pattern.slice(1), text.slice(1));
}

test("patterns match as the plainest matcher says", () => {
  const pattern = fc
    .tuple(fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 }), fc.constantFrom("", "$"))
    .map((pair) => pair.join(""));
  const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 });
  fc.assert(
    fc.property(pattern, text, (p, t) => globMatches(parseGlob(p), t) === plainMatch(p, t)),
    { numRuns: 2000 },
  );
});

test("hostile patterns cost steps in line with their own and the path's length (R23)", () => {
  const path = `/${"a".repeat(4096)}`;
  const hostile = [
    "*******/*q=1*",
    `/${"*a".repeat(2000)}b`,
    `/*${"a".repeat(2000)}b`,
    `/${"*aab".repeat(500)}$`,
    `/${`*${"a".repeat(50)}b`.repeat(40)}`,
    `${"*".repeat(4000)}$`,
    `/*${"ab".repeat(1000)}*${"a".repeat(2000)}$`,
  ];
  for (const pattern of hostile) {
    const steps = { count: 0 };
    globMatches(parseGlob(pattern), path, steps);
    assert.ok(steps.count <= 3 * (pattern.length + path.length), `${steps.count} steps for ${pattern.slice(0, 20)}`);
  }
  const small = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 200 });
  fc.assert(
    fc.property(small, small, (pattern, text) => {
      const steps = { count: 0 };
      globMatches(parseGlob(pattern), text.replaceAll("*", ""), steps);
      assert.ok(steps.count <= 3 * (pattern.length + text.length));
    }),
  );
});
