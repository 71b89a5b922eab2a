// Are near-duplicates within three bits of each other, and others not? Manku et al. (2007), on labelled articles and pages.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { hammingDistance, simHash } from "../../core/content/simhash.ts";
import { scanMarkup } from "../../core/html/scan.ts";
import { conformance, judged, SHARED_DATA, type SharedData, type Subject } from "./lib.ts";

const NEAR = 3; // bits; what the daily pipeline calls a near-duplicate
const FAR = 12; // bits; how far the printed curve goes
const PAGES_ALIKE = 0.9; // Jaccard of three words: less is another version, not a duplicate

interface LabelledPair {
  a: string;
  b: string;
  distance: number;
  duplicate: boolean;
  /** Whether it counts towards the targets; all count towards the curve. */
  judged: boolean;
}

interface Labelled {
  pairs: LabelledPair[];
  /** How many pairs of different articles lie at each distance, up to FAR. */
  strangers: number[];
  /** The nearest of them, by name. */
  nearStrangers: string[];
}

type Hashed = (text: string) => string;

function labelled(data: SharedData, hashed: Hashed): Labelled {
  const articles = articlesOf(data, hashed);
  const { pairs: of, twins } = articlePairs(data, articles);
  const strangers = new Array<number>(FAR + 1).fill(0);
  const nearStrangers: string[] = [];
  for (const [at, one] of articles.entries())
    for (const other of articles.slice(at + 1)) {
      const distance = hammingDistance(one.hash, other.hash);
      const name = `${one.id} ${other.id}`;
      if (distance > FAR || twins.has(name)) continue;
      strangers[distance]!++;
      if (distance <= NEAR) nearStrangers.push(name);
    }
  return { pairs: [...of, ...pagePairs(data, hashed)], strangers, nearStrangers };
}

interface Article {
  id: string;
  hash: string;
}

function articlesOf(data: SharedData, hashed: Hashed): Article[] {
  const lines = gunzipSync(data.bytes("neardup/articles-1000.ndjson.gz")).toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line)).map(({ id, text }) => ({ id, hash: hashed(text) }));
}

function articlePairs(data: SharedData, articles: readonly Article[]) {
  const hashes = new Map(articles.map(({ id, hash }) => [id, hash]));
  const truth = data.json<{ nearDuplicatePairs: { a: string; b: string }[] }>("neardup/truth.json").nearDuplicatePairs;
  const distanceOf = (a: string, b: string) => hammingDistance(hashes.get(a)!, hashes.get(b)!);
  const pairs = truth.map(({ a, b }) => ({ a, b, distance: distanceOf(a, b), duplicate: true, judged: true }));
  return { pairs, twins: new Set(truth.flatMap(({ a, b }) => [`${a} ${b}`, `${b} ${a}`])) };
}

function pagePairs(data: SharedData, hashed: Hashed): LabelledPair[] {
  const hash = (file: string) =>
    hashed(scanMarkup(data.bytes(`html/${file}`).toString(), { xml: false, productToken: "OurBot" }).text);
  const cases =
    data.json<{ a: string; b: string; label: string; jaccard3wordVisibleText: number }[]>("neardup/html-pairs.json");
  return cases.map(({ a, b, label, jaccard3wordVisibleText: alike }) => {
    const duplicate = label !== "different-content-same-template";
    return { a, b, distance: hammingDistance(hash(a), hash(b)), duplicate, judged: !duplicate || alike >= PAGES_ALIKE };
  });
}

const files = ["neardup", "html"];
const subject: Subject = {
  name: "near-duplicates at distance three",
  files,
  cases: 27,
  judge(data, check) {
    const { pairs, nearStrangers } = labelled(data, simHash);
    for (const { a, b, distance, duplicate, judged: counts } of pairs)
      if (counts) check(`${a} ${b}`, distance <= NEAR, duplicate);
    check("other pairs of articles", nearStrangers, []);
  },
};
conformance(subject);

test("precision is at least 0.95 and recall 0.90 at distance three; the curve to twelve", async (t) => {
  const missing = files.find((file) => !existsSync(`${SHARED_DATA}/${file}`));
  if (missing !== undefined) return t.skip(`${SHARED_DATA}/${missing} is not there`);
  for (const [name, hashed] of [["ours", simHash] as const, ...(await other())]) {
    const curve = await curveOf(hashed);
    for (const line of curve.lines) t.diagnostic(`${name}: ${line}`);
    if (name !== "ours") continue;
    assert.ok(curve.precision >= 0.95, `precision ${curve.precision}`);
    assert.ok(curve.recall >= 0.9, `recall ${curve.recall}`);
  }
});

interface Curve {
  lines: string[];
  precision: number;
  recall: number;
}

async function curveOf(hashed: Hashed): Promise<Curve> {
  let found: Labelled | undefined;
  const judge = (data: SharedData) => {
    found = labelled(data, hashed);
  };
  await judged({ name: "", files, cases: 0, judge });
  const { pairs, strangers } = found!;
  const within = (distance: number, some: readonly LabelledPair[]) => some.filter((pair) => pair.distance <= distance);
  const all = pairs.filter(({ duplicate }) => duplicate);
  const others = pairs.filter(({ duplicate }) => !duplicate);
  const at = (distance: number, some: readonly LabelledPair[]) => {
    const hits = within(distance, some).length;
    const wrong = within(distance, others).length + strangers.slice(0, distance + 1).reduce((sum, count) => sum + count, 0);
    return { hits, wrong, precision: hits === 0 ? 1 : hits / (hits + wrong), recall: hits / some.length };
  };
  const lines = Array.from({ length: FAR + 1 }, (_, distance) => {
    const { hits, wrong, precision, recall } = at(distance, all);
    return `distance ${distance}: ${hits}/${all.length} duplicates, ${wrong} others; precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`;
  });
  const near = at(
    NEAR,
    all.filter((pair) => pair.judged),
  );
  return { lines: [`targets: precision ${near.precision.toFixed(3)}, recall ${near.recall.toFixed(3)}`, ...lines], ...near };
}

/** The package that npm has for it, where it is installed: 32 bits, so its distances are half as telling. */
async function other(): Promise<(readonly [name: string, hashed: Hashed])[]> {
  const name = "simhash-js";
  const found = await import(name).catch(() => undefined);
  if (found === undefined) return [];
  const hasher = new found.default.SimHash();
  return [[name, (text) => (hasher.hash(text) >>> 0).toString(16).padStart(16, "0")]];
}
