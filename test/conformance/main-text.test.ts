// Are main texts about as long as the articles that people marked?
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { pageOf } from "../core/html/page-of.ts";
import { judged, SHARED_DATA, type SharedData } from "./lib.ts";

/** No standard says what a page's article is: a share of pages must be near, not each. */
const SHARE = 0.75;

test("main text of marked articles", async (t) => {
  if (!existsSync(`${SHARED_DATA}/html`)) {
    assert.ok(!process.env.CI, `${SHARED_DATA}/html is not there, and CI is set`);
    return t.skip(`${SHARED_DATA}/html is not there`);
  }
  let lengths: [found: number, marked: number][] = [];
  const judge = (data: SharedData) => {
    lengths = lengthsOf(data);
  };
  await judged({ name: "", files: ["html"], cases: 0, judge });
  const near = lengths.filter(([found, marked]) => found >= 0.8 * marked && found <= 1.25 * marked);
  t.diagnostic(`${near.length} of ${lengths.length} within a quarter`);
  assert.ok(near.length >= SHARE * lengths.length, `${near.length} of ${lengths.length}`);
});

function lengthsOf(data: SharedData): [found: number, marked: number][] {
  const pages = data.json<{ file: string; url: string; articleBodyChars?: number; metaRobots?: string[] }[]>("html/index.json");
  return pages
    .filter(
      ({ articleBodyChars, metaRobots = [] }) => articleBodyChars !== undefined && !/noindex|none/i.test(metaRobots.join()),
    )
    .map(({ file, url, articleBodyChars = 0 }) => [
      pageOf(data.bytes(`html/${file}`), { url, document: true }).document?.text.length ?? 0,
      articleBodyChars,
    ]);
}
