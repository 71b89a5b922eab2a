import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { pageQuality } from "../../../core/revisit/page-quality.ts";
import type { ParsedPage } from "../../../schemas/parsed-page.ts";

type Signals = ParsedPage["quality"];
const article: Signals = { textChars: 4000, linkCount: 30, textRatioPercent: 25, hasTitle: true };

const table: [situation: string, signals: Signals, quality: number][] = [
  ["a titled article", article, 100],
  ["the same without a title", { ...article, hasTitle: false }, 80],
  ["the same ten times as long", { ...article, textChars: 40_000 }, 100],
  ["a list of links, 20 characters each", { ...article, textChars: 4000, linkCount: 199 }, 84],
  ["nothing but a title", { textChars: 0, linkCount: 0, textRatioPercent: 0, hasTitle: true }, 0],
  ["one line", { textChars: 50, linkCount: 5, textRatioPercent: 2, hasTitle: true }, 30],
];
for (const [situation, signals, quality] of table)
  test(`the quality of ${situation} is ${quality}`, () => {
    assert.equal(pageQuality(signals), quality);
  });

test("whole, 0 to 100, never less for more text, fewer links, less markup or a title", () => {
  const signals = fc.record({
    textChars: fc.nat(2_000_000),
    linkCount: fc.nat(20_000),
    textRatioPercent: fc.nat(100),
    hasTitle: fc.boolean(),
  });
  fc.assert(
    fc.property(signals, fc.nat(1000), (page, more) => {
      const quality = pageQuality(page);
      assert.ok(Number.isInteger(quality) && quality >= 0 && quality <= 100);
      assert.ok(pageQuality({ ...page, textChars: page.textChars + more }) >= quality);
      assert.ok(pageQuality({ ...page, linkCount: page.linkCount + more }) <= quality);
      assert.ok(pageQuality({ ...page, textRatioPercent: page.textRatioPercent + more }) >= quality);
      assert.ok(pageQuality({ ...page, hasTitle: true }) >= quality);
    }),
  );
});
