import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { withinFanOut } from "../../../core/traps/fan-out.ts";

const PAGE = "http://h/page";

test("F5: ten links of a page to itself leave room for the new one", () => {
  const links = [...Array.from({ length: 10 }, () => PAGE), "http://h/new"];
  assert.deepEqual(withinFanOut(links, PAGE, 10), { urls: ["http://h/new"], refused: 0 });
});

test("a repeated link takes one place, and those beyond the bound are counted once each", () => {
  const links = ["http://h/a", "http://h/a", "http://h/b", "http://h/c", "http://h/d", "http://h/d"];
  assert.deepEqual(withinFanOut(links, PAGE, 2), { urls: ["http://h/a", "http://h/b"], refused: 2 });
  assert.deepEqual(withinFanOut(links, PAGE, 0), { urls: [], refused: 4 });
});

test("law: what is taken and what is refused are all distinct targets but the page", () => {
  const url = fc.constantFrom(PAGE, "http://h/a", "http://h/b", "http://h/c");
  fc.assert(
    fc.property(fc.array(url), fc.nat(4), (links, most) => {
      const { urls, refused } = withinFanOut(links, PAGE, most);
      assert.equal(urls.length + refused, new Set(links.filter((link) => link !== PAGE)).size);
      assert.ok(urls.length <= most && !urls.includes(PAGE));
    }),
  );
});
