// Are main texts about as long as the articles that people marked, and documents those of linkedom's tree?
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { decodeMarkup } from "../../core/html/charset.ts";
import { pageOf } from "../core/html/page-of.ts";
import { type Check, conformance, judged, SHARED_DATA, type SharedData } from "./lib.ts";
import { treeDocument } from "./tree-document.ts";

interface SharedPage {
  file: string;
  url: string;
  articleBodyChars?: number;
  metaRobots?: string[];
}

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

conformance({ name: "documents, as by linkedom's tree", files: ["html"], cases: 237, judge: judgeDocuments });

/** Text, headings and structured data of each page that has a document. */
function judgeDocuments(data: SharedData, check: Check): void {
  for (const { file, url } of documentPagesOf(data)) {
    const bytes = data.bytes(`html/${file}`);
    const { document } = pageOf(bytes, { url, document: true });
    const tree = treeDocument(decodeMarkup(bytes, "utf-8").text);
    for (const part of ["text", "headings", "structuredData"] as const) check(`${file} ${part}`, document?.[part], tree[part]);
  }
}

function lengthsOf(data: SharedData): [found: number, marked: number][] {
  return documentPagesOf(data)
    .filter(({ articleBodyChars }) => articleBodyChars !== undefined)
    .map(({ file, url, articleBodyChars = 0 }) => [
      pageOf(data.bytes(`html/${file}`), { url, document: true }).document?.text.length ?? 0,
      articleBodyChars,
    ]);
}

function documentPagesOf(data: SharedData): SharedPage[] {
  return data.json<SharedPage[]>("html/index.json").filter(({ metaRobots = [] }) => !/noindex|none/i.test(metaRobots.join()));
}
