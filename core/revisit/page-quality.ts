// How good is a page, by what one pass over it tells? A whole number from 0 to 100, one byte in a record.
import type { ParsedPage } from "../../schemas/parsed-page.ts";

const TEXT = { points: 50, chars: 4000, step: 50 }; // by the logarithm: the first paragraph says more than the fortieth
const PROSE = { points: 20, charsPerLink: 100 }; // lists of links say little themselves
const MARKUP = { points: 10, percent: 25 }; // of a usual article; scripts and frames leave less
const TITLE_POINTS = 20;

/** 0: an empty page; 100: a titled text of 4,000 characters, few links beside them and a quarter of the bytes its own. */
export function pageQuality({ textChars, linkCount, textRatioPercent, hasTitle }: ParsedPage["quality"]): number {
  if (textChars === 0) return 0;
  const length = Math.log1p(textChars / TEXT.step) / Math.log1p(TEXT.chars / TEXT.step);
  const prose = textChars / (1 + linkCount) / PROSE.charsPerLink;
  return Math.round(
    TEXT.points * Math.min(1, length) +
      PROSE.points * Math.min(1, prose) +
      MARKUP.points * Math.min(1, textRatioPercent / MARKUP.percent) +
      (hasTitle ? TITLE_POINTS : 0),
  );
}
