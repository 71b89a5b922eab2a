// Which blocks of a page are its content? The page's own marks first (main, article), then how much of a block is text and not links.
import { limits } from "../../schemas/limits.ts";

/** A run of text between two block elements, in page order. */
export interface TextBlock {
  text: string;
  /** 0 to 1: how much of it stands in links. */
  linkShare: number;
  heading: boolean;
  inMain: boolean;
  /** The number of the outermost article around it, from 1; 0 for none. */
  article: number;
}

/** A region must hold this share of all text to stand for the page: an empty main, or one teaser of many, does not. */
const REGION_SHARE_MIN = 0.3;
/** Menus, tag lists and "read more" rows are above it; a paragraph full of references is below. */
const LINK_SHARE_MAX = 0.5;
/** A text that stands alone: about ten words. Shorter ones count only beside such a one. */
const PROSE_CHARS = 60;
/** Less than this is no content found: then all blocks of the region are taken. */
const CONTENT_CHARS_MIN = 140;

/** One line a block. */
export function mainText(blocks: readonly TextBlock[]): string {
  const region = regionOf(blocks);
  const kept = contentOf(region);
  const text = joined(kept);
  return text.length >= CONTENT_CHARS_MIN ? text : joined(region);
}

/** The blocks of main, else of the longest article, else all. */
function regionOf(blocks: readonly TextBlock[]): readonly TextBlock[] {
  const least = REGION_SHARE_MIN * charsOf(blocks);
  const main = blocks.filter((block) => block.inMain);
  const inside = main.length > 0 && charsOf(main) >= least ? main : blocks;
  const longest = longestArticle(inside);
  return longest.length > 0 && charsOf(longest) >= REGION_SHARE_MIN * charsOf(inside) ? longest : inside;
}

function longestArticle(blocks: readonly TextBlock[]): readonly TextBlock[] {
  const chars = new Map<number, number>();
  for (const { article, text } of blocks) if (article > 0) chars.set(article, (chars.get(article) ?? 0) + text.length);
  let longest = 0;
  for (const [article, count] of chars) if (count > (chars.get(longest) ?? 0)) longest = article;
  return longest === 0 ? [] : blocks.filter((block) => block.article === longest);
}

/** Prose, what stands directly beside prose, and the headings above either. */
function contentOf(blocks: readonly TextBlock[]): TextBlock[] {
  const isProse = blocks.map((block) => block.linkShare <= LINK_SHARE_MAX && block.text.length >= PROSE_CHARS);
  const isKept = blocks.map(
    (block, at) => isProse[at] || (block.linkShare <= LINK_SHARE_MAX && (isProse[at - 1] === true || isProse[at + 1] === true)),
  );
  for (let at = blocks.length - 2; at >= 0; at--) if (blocks[at]?.heading && isKept[at + 1]) isKept[at] = true;
  return blocks.filter((_, at) => isKept[at]);
}

function joined(blocks: readonly TextBlock[]): string {
  return blocks
    .map((block) => block.text)
    .join("\n")
    .slice(0, limits.textChars);
}

function charsOf(blocks: readonly TextBlock[]): number {
  return blocks.reduce((sum, block) => sum + block.text.length, 0);
}
