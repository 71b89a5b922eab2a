import assert from "node:assert/strict";
import { test } from "node:test";
import type { UrlState } from "../../../schemas/url-state.ts";
import { duplicates } from "./duplicates.ts";
import { facts, fetched, HOUR, indexEvent, saysAtEnd, standing, T } from "./given.ts";

const SIM_HASH = "00ff00ff00ff00ff";

/** A page with these hashes, in hex; the content hash is filled up. */
function page(url: string, simHash: string, contentHash = "aa"): UrlState {
  const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
  return fetched(url, { simHash: bytes(simHash), contentHash: bytes(contentHash.repeat(20)) });
}

const MINUTE = 60_000;
const capture = (at: number, mime = "text/html") => ({
  url: "http://h1.sim/p1",
  at: T + at,
  status: 200,
  mime,
  digest: "sha1:A",
});

// Every sixteenth page is a mirror; which of its four bodies, the seed decides: h1.sim/p15 and h1.sim/d15 are of one number, and one body.
const MIRROR = "http://h1.sim/p15";
const SAME = "http://h1.sim/d15";

const cases: { name: string; records: UrlState[]; wrong: RegExp | undefined }[] = [
  { name: "two mirrors with one hash", records: [page(MIRROR, SIM_HASH), page(SAME, SIM_HASH)], wrong: undefined },
  {
    name: "two mirrors with two content hashes",
    records: [page(MIRROR, SIM_HASH), page(SAME, SIM_HASH, "bb")],
    wrong: /one body, and not one hash/,
  },
  {
    name: "two mirrors with two SimHashes",
    records: [page(MIRROR, SIM_HASH), page(SAME, "00ff00ff00ff00fe")],
    wrong: /one body, and not one hash/,
  },
  {
    name: "pages with nothing in common, far apart",
    records: [page("http://h1.sim/p1", SIM_HASH), page("http://h2.sim/p2", "ffff0000ffff0000", "bb")],
    wrong: undefined,
  },
  {
    name: "pages with nothing in common, three bits apart",
    records: [page("http://h1.sim/p1", SIM_HASH), page("http://h2.sim/p2", "00ff00ff00ff00f8", "bb")],
    wrong: /nothing in common, and differ in 3 bits/,
  },
  {
    name: "many pairs of one text, far apart",
    records: Array.from({ length: 60 }, (_, at) => [
      page(`http://h1.sim/p${at * 16 + 1}`, (at * 2 ** 20).toString(16).padStart(16, "0"), "aa"),
      page(`http://h1.sim/d${at * 16 + 1}`, (at * 2 ** 20 + 0xfffff).toString(16).padStart(16, "0"), "bb"),
    ]).flat(),
    wrong: /0 of 60 pairs of one text are within 3 bits/,
  },
];

for (const { name, records, wrong } of cases) {
  test(`duplicates: ${name}`, async () => {
    const words = await saysAtEnd(duplicates(facts()), await standing(records, { now: T + HOUR }));
    if (wrong === undefined) assert.deepEqual(words, []);
    else assert.match(words.join("\n"), wrong);
  });
}

test("duplicates: one body has one place in all index events", () => {
  const checker = duplicates(facts());
  const place = { contentHash: "aa", segment: "s1", offset: 10, length: 5 };
  checker.published?.("index", indexEvent("http://h1.sim/a", place));
  checker.published?.("index", indexEvent("http://h1.sim/b", place));
  assert.deepEqual(checker.violations.words, []);
  checker.published?.("index", indexEvent("http://h1.sim/c", { ...place, offset: 11 }));
  assert.match(checker.violations.words.join(), /stands at s1 11, and at s1 10/);
});

test("duplicates: a body is stored once, but for fetches that overlap; revisit records store none", () => {
  const checker = duplicates(facts());
  for (const at of [0, MINUTE]) checker.stored?.(capture(at));
  checker.stored?.(capture(5 * MINUTE, "warc/revisit"));
  assert.deepEqual(checker.violations.words, []);
  checker.stored?.(capture(MINUTE + 1));
  assert.match(checker.violations.words.join(), /60001 ms ago was stored again/);
});

test("duplicates: where faults were planned, a body may be stored again", () => {
  const checker = duplicates(facts({}, { faultless: false }));
  for (const at of [0, 10 * MINUTE]) checker.stored?.(capture(at));
  assert.deepEqual(checker.violations.words, []);
});
