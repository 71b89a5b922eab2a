// What does a page say, without its frame? Main text, headings and structured data from linkedom's tree, walked once without recursion.
import { parseHTML } from "linkedom";
import { limits } from "../../schemas/limits.ts";
import type { ParsedDocument } from "../../schemas/parsed-page.ts";
import { elementFacts } from "./elements.ts";
import { mainText, type TextBlock } from "./main-text.ts";
import type { Scan } from "./scan-result.ts";
import { collapse } from "./values.ts";

/**
 * Beyond these no tree is built, and the text is that of the first pass. The library's parser compares each closing tag with all open
 * elements (20,000 of each take a second and a half), and a node costs it about half a kilobyte.
 */
const TREE_TAGS_MAX = 40_000;
const TREE_NODES_MAX = 200_000;

const JSON_LD_BLOCKS_MAX = 20;
const JSON_LD_CHARS_MAX = 64 * 1024;

export function documentOf(markup: string, scan: Scan): ParsedDocument {
  const small = scan.tags <= TREE_TAGS_MAX && scan.nodes <= TREE_NODES_MAX;
  const found = small ? treeText(markup) : undefined;
  return {
    text: (found?.text || scan.text).slice(0, limits.textChars),
    headings: found?.headings ?? [],
    ...(scan.description ? { description: scan.description } : {}),
    structuredData: found?.structuredData ?? [],
  };
}

/** What we use of linkedom's nodes. */
interface TreeNode {
  nodeType: number;
  localName?: string;
  textContent: string | null;
  firstChild: TreeNode | null;
  nextSibling: TreeNode | null;
  parentNode: TreeNode | null;
  getAttribute?(name: string): string | null;
}

const ELEMENT = 1;
const TEXT = 3;

function treeText(markup: string): Pick<ParsedDocument, "text" | "headings" | "structuredData"> | undefined {
  try {
    const reading = newReading();
    walk(parseHTML(markup).document as unknown as TreeNode, reading);
    endBlock(reading);
    return { text: mainText(reading.blocks), headings: reading.headings, structuredData: reading.structuredData };
  } catch {
    return undefined; // a fault of the library's on odd markup; the first pass has the text
  }
}

/** Visits the tree in page order with a loop: markup may be nested tens of thousands deep. */
function walk(root: TreeNode, reading: Reading): void {
  let node = root.firstChild;
  while (node !== null) {
    const inside = enter(node, reading) ? node.firstChild : null;
    if (inside !== null) {
      node = inside;
      continue;
    }
    while (node !== null && node.nextSibling === null) {
      node = node.parentNode;
      if (node === root || node === null) return;
      leave(node, reading);
    }
    node = node?.nextSibling ?? null;
  }
}

/** What the walk has read, and where it is. */
interface Reading {
  blocks: TextBlock[];
  headings: ParsedDocument["headings"];
  structuredData: string[];
  pieces: string[];
  chars: number;
  linkChars: number;
  links: number;
  mains: number;
  articles: number;
  /** How many outermost articles have begun. */
  article: number;
  level: number;
}

function newReading(): Reading {
  return {
    blocks: [],
    headings: [],
    structuredData: [],
    pieces: [],
    chars: 0,
    linkChars: 0,
    links: 0,
    mains: 0,
    articles: 0,
    article: 0,
    level: 0,
  };
}

/** Whether what is inside the node is to be read. */
function enter(node: TreeNode, reading: Reading): boolean {
  if (node.nodeType === TEXT) {
    const piece = node.textContent ?? "";
    reading.pieces.push(piece);
    reading.chars += piece.length;
    if (reading.links > 0) reading.linkChars += piece.length;
    return false;
  }
  const name = node.nodeType === ELEMENT ? (node.localName ?? "") : "";
  if (name === "script") readJsonLd(node, reading);
  if (name === "" || isFrame(node, name, reading)) return false;
  if (SOFT.has(name)) reading.pieces.push(" ");
  else if (!elementFacts(name).inline) endBlock(reading);
  step(node, name, reading, 1);
  if (node.firstChild !== null) return true;
  leave(node, reading);
  return false;
}

function leave(node: TreeNode, reading: Reading): void {
  const name = node.localName ?? "";
  if (!SOFT.has(name) && !elementFacts(name).inline) endBlock(reading);
  step(node, name, reading, -1);
}

function step(node: TreeNode, name: string, reading: Reading, by: 1 | -1): void {
  if (name === "a") reading.links += by;
  else if (name === "main" || node.getAttribute?.("role") === "main") reading.mains += by;
  else if (name === "article") {
    if (by === 1 && reading.articles === 0) reading.article++;
    reading.articles += by;
  } else if (/^h[1-6]$/.test(name)) reading.level = by === 1 ? Number(name[1]) : 0;
}

function endBlock(reading: Reading): void {
  if (reading.pieces.length === 0) return;
  const text = collapse(reading.pieces.join(""));
  if (text !== "") {
    const { level } = reading;
    reading.blocks.push({
      text,
      linkShare: reading.linkChars / reading.chars,
      heading: level > 0,
      inMain: reading.mains > 0,
      article: reading.articles > 0 ? reading.article : 0,
    });
    if (level > 0 && reading.headings.length < limits.headings)
      reading.headings.push({ level, text: text.slice(0, limits.titleChars) });
  }
  reading.pieces = [];
  reading.chars = 0;
  reading.linkChars = 0;
}

/** Parts of a whole: a list or table is judged as one block, or its short lines would never count as text. */
const SOFT = new Set("br li dt dd tr td th thead tbody tfoot caption".split(" "));

/** Never part of the text, whatever the page. A form is not among them: whole pages stand inside one. */
const FRAME = new Set(
  "nav aside footer script style template noscript iframe object button select textarea datalist svg math dialog head title".split(
    " ",
  ),
);
const FRAME_ROLES = new Set(["navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu"]);

function isFrame(node: TreeNode, name: string, reading: Reading): boolean {
  if (FRAME.has(name)) return true;
  if (name === "header" && reading.mains === 0 && reading.articles === 0) return true;
  if (elementFacts(name).inline) return false;
  return (
    FRAME_ROLES.has(node.getAttribute?.("role") ?? "") ||
    node.getAttribute?.("aria-hidden") === "true" ||
    (node.getAttribute?.("hidden") ?? null) !== null
  );
}

function readJsonLd(node: TreeNode, { structuredData }: Reading): void {
  if (structuredData.length >= JSON_LD_BLOCKS_MAX) return;
  if (node.getAttribute?.("type")?.trim().toLowerCase() !== "application/ld+json") return;
  const text = (node.textContent ?? "").trim();
  if (text.length <= JSON_LD_CHARS_MAX && isJson(text)) structuredData.push(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
