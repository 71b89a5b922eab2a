import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hasQuery, templateLadder, templateOf, templateRowKey } from "../../../core/traps/template.ts";
import { paceKeyOf } from "../../../schemas/row-key.ts";

const H = "http://site.test";

const rows: [path: string, template: string][] = [
  ["/", "/"],
  ["/about", "/{word}"],
  ["/contact/", "/{word}"],
  ["/about.html", "/{word}.html"],
  ["/products/", "/{word}"],
  ["/products/1234", "/products/{number}"],
  ["/products/1,234.50", "/products/{number}"],
  ["/Products/77/", "/products/{number}"],
  ["/2024/01/31/a-title-of-many-words", "/{number}/{number}/{number}/{slug}"],
  ["/month/2030-01", "/month/{date}"],
  ["/day/2030-01-31", "/day/{date}"],
  ["/day/20300131.html", "/day/{date}.html"],
  ["/o/3f2504e0-4f89-11d3-9a0c-0305e82c3301/view", "/o/{uuid}/{word}"],
  ["/commit/9fceb02d0ae598e95dc970b74767f19372d61af8", "/commit/{hex}"],
  ["/page2", "/{word}{number}"],
  ["/page-17/x", "/{word}{number}/{word}"],
  ["/v/dQw4w9WgXcQ", "/v/{token}"],
  ["/wiki/Alan_Turing", "/wiki/{word}"],
  ["/wiki/List_of_all_the_things", "/wiki/{slug}"],
  ["/wiki/%E6%97%A5%E6%9C%AC", "/wiki/{word}"],
  ["/a-rather-long-directory/x", "/{slug}/{word}"],
  ["/press-releases/x", "/press-releases/{word}"],
  ["/a/b/c/d/e/f/g", "/a/b/c/d/{word}/{word}/{word}"],
  ["/a/b/c/d/e/f/g/h/i/j", "/a/b/c/d/{word}/{word}/{word}/{word}/**"],
  ["/search?q=shoes", "/search?q="],
  ["/search?Q=boots", "/search?q="],
  ["/find?q=shoes", "/find?q="],
  ["/index.php?id=7", "/index.php?id="],
  ["/wiki/Turing?action=edit", "/wiki/{word}?action="],
  ["/?p12=1", "/?p{number}="],
  ["/list?filter%5Bcolour%5D=red", "/list?filter[]="],
  ["/list?filter[size]=9", "/list?filter[]="],
  ["/list?a=1&b=2", "/list?2+"],
  ["/list?b=2&a=1", "/list?2+"],
  ["/list?a=1&b=2&c=3&a=4", "/list?2+"],
  ["/p?q=&q=", "/p?2+"],
  ["/p?", "/{word}"],
];
for (const [path, template] of rows)
  test(`${path} is of ${template}`, () => {
    assert.equal(templateOf(H + path), template);
  });

test("a template is folded further by its first directory, then by its depth", () => {
  assert.deepEqual(templateLadder(`${H}/shop/shoes/77?a=1`), ["/shop/shoes/{number}?a=", "/shop/*/*?*", "/*/*/*?*"]);
  assert.deepEqual(templateLadder(`${H}/`), ["/", "/", "/"]);
});

test("a row belongs to one host and one template, and lies with its host", () => {
  const rows = [
    { hostKey: "http://a.test", template: "/x" },
    { hostKey: "http://b.test", template: "/x" },
    { hostKey: "http://a.test", template: "/y" },
    { hostKey: "https://a.test", template: "/x" },
  ].map((name) => templateRowKey(name));
  assert.equal(new Set(rows).size, 4);
  assert.deepEqual(rows.map(paceKeyOf), ["a.test", "b.test", "a.test", "a.test"]);
  assert.equal(paceKeyOf(templateRowKey({ hostKey: "http://www.a.test", template: "/" }, "domain")), "a.test");
});

test("law: no subset, order or value of two or more parameters is a template of its own", () => {
  const names = ["colour", "size", "brand", "price", "sort", "page", "view", "tag", "from", "to", "in", "by"];
  const pairs = fc
    .shuffledSubarray(names, { minLength: 2 })
    .chain((chosen) =>
      fc.tuple(...chosen.map((name) => fc.nat(99).map((value) => `${name}=${value}`))).map((list) => list.join("&")),
    );
  fc.assert(
    fc.property(pairs, (query) => {
      assert.equal(templateOf(`${H}/shop/list?${query}`), "/shop/list?2+");
    }),
  );
});

test("law: a number, date, hash or value in a URL does not change its template", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.uuid(), fc.uuid(), (one, other, id, otherId) => {
      assert.equal(templateOf(`${H}/n/${one}/x`), templateOf(`${H}/n/${other}/x`));
      assert.equal(templateOf(`${H}/n/${id}/x`), templateOf(`${H}/n/${otherId}/x`));
      assert.equal(templateOf(`${H}/s?id=${one}`), templateOf(`${H}/s?id=${otherId}`));
    }),
  );
});

test("law: templates are bounded in length, and the coarsest in number", () => {
  const segment = fc.stringMatching(/^[a-zA-Z0-9._%;,-]{1,60}$/);
  const coarse = new Set<string>();
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 30 }), fc.boolean(), (segments, query) => {
      const url = `${H}/${segments.join("/")}${query ? "?x=1" : ""}`;
      const ladder = templateLadder(url);
      for (const template of ladder) {
        assert.ok(template.length <= 300, template);
        assert.equal(hasQuery(template), query);
      }
      coarse.add(ladder[2]);
    }),
  );
  assert.ok(coarse.size <= 20);
});
