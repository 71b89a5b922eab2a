import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { simHash } from "../../../core/content/simhash.ts";
import { noAnswersSeen, type PageAnswer, softNotFound } from "../../../core/traps/soft-404.ts";
import { urlIdentity } from "../../../core/url/keys.ts";
import { decode, encode } from "../../../schemas/codec.ts";
import { answersSeen } from "../../../schemas/template-count.ts";

const SORRY = simHash(
  "We looked everywhere and could not find what you asked for. Try the search or go to the front page of the shop.",
);
const idOf = (index: number) => urlIdentity(`http://h/${index}`).urlId;

const MENU = ["http://h/", "http://h/about", "http://h/cart"];

const sorry = (index: number, change: Partial<PageAnswer> = {}): PageAnswer => ({
  urlId: idOf(index),
  url: `http://h/${index}`,
  links: MENU,
  status: 200,
  title: "The shop",
  simHash: SORRY,
  ...change,
});
/** A page like no other. */
const article = (index: number): PageAnswer => ({
  urlId: idOf(100_000 + index),
  url: `http://h/article/${index}`,
  links: MENU,
  status: 200,
  title: `Article ${index}`,
  simHash: simHash(Array.from({ length: 40 }, (_, word) => `word${index}x${word}`).join(" ")),
});

/** The reason for each page in turn. */
function reasons(pages: readonly PageAnswer[], most = 25) {
  let state = noAnswersSeen;
  const given = pages.map((page) => {
    const after = softNotFound(state, page, most);
    state = after.state;
    return after.reason;
  });
  return { given, state, first: given.indexOf("soft-404") };
}

const many = (count: number, change: Partial<PageAnswer> = {}) =>
  Array.from({ length: count }, (_, index) => sorry(index, change));

test("one answer to many URLs is no answer, from about the limit on", () => {
  const { given, first } = reasons(many(60));
  assert.ok(first >= 22 && first <= 30, `from URL ${first}`);
  assert.ok(given.slice(first).every((reason) => reason === "soft-404"));
});

test("it is found between other pages, of which none is blamed", () => {
  const pages = many(60).flatMap((page, index) => [page, article(2 * index), article(2 * index + 1)]);
  const { given } = reasons(pages);
  assert.ok(given.filter((reason) => reason !== undefined).length > 25);
  for (const [index, { title }] of pages.entries()) assert.ok(title === "The shop" || given[index] === undefined, title);
});

test("a title that says so needs a fifth of the URLs", () => {
  for (const title of ["404", "Page not found - The shop", "Seite nicht gefunden", "Page introuvable", "找不到页面"]) {
    const { first } = reasons(many(30, { title }));
    assert.ok(first >= 4 && first <= 7, `${title}: ${first}`);
  }
});

test("an answer that was found out stays known, however many pages stand under two addresses", () => {
  const pairs = Array.from({ length: 40 }, (_, index) => [article(index), { ...article(index), urlId: idOf(200_000 + index) }]);
  const { given } = reasons([...many(40), ...pairs.flat(), sorry(1_000)]);
  assert.equal(given.at(-1), "soft-404");
  assert.ok(given.slice(40, -1).every((reason) => reason === undefined));
});

test("one page that is visited again and again is one URL, and no family", () => {
  const { first, state } = reasons(Array.from({ length: 200 }, () => sorry(1)));
  assert.equal(first, -1);
  assert.deepEqual(state.families, []);
});

test("one text is one answer, though each title names the address that was asked for", () => {
  const pages = Array.from({ length: 60 }, (_, index) => sorry(index, { title: `Nothing at /${"x".repeat(index)}` }));
  assert.notEqual(reasons(pages).first, -1);
});

const linked: [situation: string, links: (index: number) => string[], isPage: boolean][] = [
  [
    "an album: one text, and each page leads to the next",
    (index) => [...MENU, `http://h/${index - 1}`, `http://h/${index + 1}`],
    true,
  ],
  ["products of one text that lead to their own pictures", (index) => [...MENU, `http://pictures.test/${index}.jpg`], true],
  ["a menu alone", () => MENU, false],
  ["no links", () => [], false],
  ["names below whatever was asked", (index) => [...MENU, `http://h/a/${index}/one`, `http://h/a/${index}/two`], false],
  ["a log-in that leads back", (index) => [...MENU, `http://h/login?to=${encodeURIComponent(`http://h/a/${index}/`)}`], false],
];
for (const [situation, links, isPage] of linked)
  test(`one text under many URLs, ${situation}: ${isPage ? "pages" : "no pages"}`, () => {
    const pages = Array.from({ length: 60 }, (_, index) => sorry(index, { url: `http://h/a/${index}/`, links: links(index) }));
    assert.equal(reasons(pages).first === -1, isPage);
  });

test("a title that confesses is believed, whatever the page links to", () => {
  const pages = Array.from({ length: 30 }, (_, index) => sorry(index, { title: "404", links: [`http://h/try/${index}`] }));
  assert.notEqual(reasons(pages).first, -1);
});

test("what is remembered of a large host is bounded", () => {
  const { state } = reasons(Array.from({ length: 400 }, (_, index) => article(index)));
  assert.ok(state.recent.length <= 32 && state.families.length === 0);
  const pairs = Array.from({ length: 40 }, (_, index) => index).flatMap((index) => {
    const { simHash: hash } = article(index >> 1);
    return [sorry(index, { simHash: hash })];
  });
  assert.equal(reasons(pairs).state.families.length, 8);
});

test("ten honest copies are below the limit", () => {
  assert.equal(reasons(many(10)).first, -1);
});

const never: [situation: string, pages: PageAnswer[]][] = [
  ["errors that say so by their status", many(100, { status: 404 })],
  ["redirects", many(100, { status: 302 })],
  ["pages without words, as of an application in script", many(100, { simHash: "0000000000000000" })],
  ["a SimHash that is none", many(100, { simHash: "zz" })],
  ["pages that share nothing", Array.from({ length: 100 }, (_, index) => article(index))],
];
for (const [situation, pages] of never)
  test(`no family: ${situation}`, () => {
    assert.equal(reasons(pages).first, -1);
  });

test("texts that differ by a word or two are one family under one title, and several under several", () => {
  const near = (index: number) => {
    const [head, last] = [SORRY.slice(0, 15), Number.parseInt(SORRY.slice(15), 16)];
    return head + (last ^ (index % 2)).toString(16);
  };
  const pages = (title: (index: number) => string) =>
    Array.from({ length: 60 }, (_, index) => sorry(index, { simHash: near(index), title: title(index) }));
  assert.notEqual(reasons(pages(() => "The shop")).first, -1);
  assert.equal(reasons(pages((index) => `Product ${["a", "b"][index % 2]}`).slice(0, 40)).first, -1);
});

test("a number in the title is not another title", () => {
  const pages = Array.from({ length: 60 }, (_, index) => sorry(index, { title: `Order ${index}`, simHash: SORRY }));
  assert.notEqual(reasons(pages).first, -1);
});

test("once a family is known, nothing new is learnt from it", () => {
  const { state } = reasons(many(60));
  assert.equal(softNotFound(state, sorry(7_777), 25).state, state);
});

test("law: the state is bounded, its codec keeps it, and nothing throws", () => {
  const page = fc.record({
    urlId: fc.string(),
    url: fc.webUrl(),
    links: fc.array(fc.webUrl(), { maxLength: 5 }),
    status: fc.integer({ min: 0, max: 999 }),
    title: fc.string(),
    simHash: fc.oneof(
      fc.constantFrom(SORRY, "00000000000000f1", "ffffffffffffffff"),
      fc.stringMatching(/^[0-9a-f]{16}$/),
      fc.string(),
    ),
  });
  fc.assert(
    fc.property(fc.array(page, { maxLength: 120 }), (pages) => {
      const { state } = reasons(pages);
      const bytes = encode(answersSeen, state);
      assert.ok(bytes.length <= 1_024, `${bytes.length}`);
      assert.deepEqual(decode(answersSeen, bytes), state);
    }),
    { numRuns: 50 },
  );
});
