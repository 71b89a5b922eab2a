// Are names refused that lead inside whatever DNS says, and ports of other protocols, and no look-alike of either?
import assert from "node:assert/strict";
import { test } from "node:test";
import { badPort, internalName } from "../../../core/http/internal-target.ts";
import { parseRanges } from "../../../core/http/public-address.ts";

const inside = parseRanges(["10.0.0.0/8"]);
assert.ok(inside.ok);
const { ranges } = inside;

const rows: [kind: string, names: string[], refused: boolean, refusedWithRange: boolean][] = [
  ["names that DNS does not serve", ["abc.onion", "abc.onion.", "x.alt", "a.invalid"], true, true],
  ["names of one label", ["intranet", "localhost", "LOCALHOST.", "router"], true, false],
  [
    "names under a domain of inside",
    ["a.localhost", "printer.local", "wiki.internal", "nas.home.arpa", "a.b.svc"],
    true,
    false,
  ],
  ["services of clouds", ["metadata.google.internal", "metadata.goog", "METADATA.goog."], true, false],
  [
    "names that only look like them",
    [
      "localhost.example.org",
      "notlocalhost.example",
      "internal.example.org",
      "a.locale",
      "onion.example.org",
      "10.example.org",
    ],
    false,
    false,
  ],
];
for (const [kind, names, refused, refusedWithRange] of rows)
  test(`${kind} are ${refused ? "refused" : "looked up"}, ${refusedWithRange ? "always" : "and looked up where a range is allowed"}`, () => {
    for (const name of names) {
      assert.equal(internalName(name, []) !== undefined, refused, name);
      assert.equal(internalName(name, ranges) !== undefined, refusedWithRange, name);
    }
  });

test("ports of mail, shells and databases' neighbours are bad, those of the web are not", () => {
  for (const port of [0, 1, 22, 25, 110, 143, 465, 587, 2049, 6000, 6667, 10_080]) assert.ok(badPort(port), String(port));
  for (const port of [80, 443, 3000, 8000, 8080, 8443, 65_535]) assert.ok(!badPort(port), String(port));
});
