// What does a page say by linkedom's tree? The walk that core/html/document.ts once was, kept as its judge.
import { parseHTML } from "linkedom";
import { elementFacts } from "../../core/html/elements.ts";
import { mainText, type TextBlock } from "../../core/html/main-text.ts";
import { collapse } from "../../core/html/values.ts";
import { limits } from "../../schemas/limits.ts";
import type { ParsedDocument } from "../../schemas/parsed-page.ts";

type TreeDocument = Pick<ParsedDocument, "text" | "headings" | "structuredData">;

/** Not for pages of tens of thousands of nested elements: it calls itself at each. */
export function treeDocument(markup: string): TreeDocument {
  const { document } = parseHTML(markup);
  const reading = newReading();
  // Not the document's own children: a doctype of linkedom's has no next sibling.
  read(document.documentElement as unknown as TreeNode, reading);
  endBlock(reading);
  return {
    text: mainText(reading.blocks),
    headings: reading.headings,
    structuredData: structuredDataOf(document as unknown as TreeRoot),
  };
}

interface TreeNode {
  nodeType: number;
  localName: string;
  textContent: string | null;
  childNodes: Iterable<TreeNode>;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  closest(selector: string): TreeNode | null;
}

interface TreeRoot {
  querySelectorAll(selector: string): Iterable<TreeNode>;
}

interface Reading {
  blocks: TextBlock[];
  headings: ParsedDocument["headings"];
  pieces: string[];
  chars: number;
  linkChars: number;
  /** Of the elements that the place is in. */
  links: number;
  mains: number;
  articles: number;
  article: number;
  level: number;
}

const ELEMENT = 1;
const TEXT = 3;

function newReading(): Reading {
  return {
    blocks: [],
    headings: [],
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

function read(node: TreeNode, reading: Reading): void {
  if (node.nodeType === TEXT) {
    const piece = node.textContent ?? "";
    reading.pieces.push(piece);
    reading.chars += piece.length;
    if (reading.links > 0) reading.linkChars += piece.length;
  }
  if (node.nodeType !== ELEMENT || isFrame(node, reading)) return;
  const isBlock = !SOFT.has(node.localName) && !elementFacts(node.localName).inline;
  if (isBlock) endBlock(reading);
  else if (SOFT.has(node.localName)) reading.pieces.push(" ");
  step(node, reading, 1);
  for (const child of node.childNodes) read(child, reading);
  if (isBlock) endBlock(reading);
  step(node, reading, -1);
}

function step(node: TreeNode, reading: Reading, by: 1 | -1): void {
  const name = node.localName;
  if (name === "a") reading.links += by;
  else if (name === "main" || node.getAttribute("role") === "main") reading.mains += by;
  else if (name === "article") {
    if (by === 1 && reading.articles === 0) reading.article++;
    reading.articles += by;
  } else if (/^h[1-6]$/.test(name)) reading.level = by === 1 ? Number(name[1]) : 0;
}

function endBlock(reading: Reading): void {
  const { level, pieces } = reading;
  const text = collapse(pieces.join(""));
  if (text !== "")
    reading.blocks.push({
      text,
      linkShare: reading.linkChars / reading.chars,
      heading: level > 0,
      inMain: reading.mains > 0,
      article: reading.articles > 0 ? reading.article : 0,
    });
  if (text !== "" && level > 0 && reading.headings.length < limits.headings)
    reading.headings.push({ level, text: text.slice(0, limits.titleChars) });
  reading.pieces = [];
  reading.chars = 0;
  reading.linkChars = 0;
}

const SOFT = new Set("br li dt dd tr td th thead tbody tfoot caption".split(" "));
const FRAME = new Set(
  "nav aside footer script style template noscript iframe object button select textarea datalist svg math dialog head title".split(
    " ",
  ),
);
const FRAME_ROLES = new Set(["navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu"]);

function isFrame(node: TreeNode, reading: Reading): boolean {
  const name = node.localName;
  if (FRAME.has(name)) return true;
  if (name === "header" && reading.mains === 0 && reading.articles === 0) return true;
  if (elementFacts(name).inline) return false;
  return (
    FRAME_ROLES.has(node.getAttribute("role") ?? "") ||
    node.getAttribute("aria-hidden") === "true" ||
    node.hasAttribute("hidden")
  );
}

/** Wherever a script stands, but for templates. */
function structuredDataOf(root: TreeRoot): string[] {
  const texts = [...root.querySelectorAll('script[type="application/ld+json"]')]
    .filter((script) => script.closest("template") === null)
    .map((script) => (script.textContent ?? "").trim());
  return texts.filter(isJson);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
