// What does a page say, without its frame? Main text, headings and structured data, read along with the first pass, without a tree.
import { limits } from "../../schemas/limits.ts";
import type { ParsedDocument } from "../../schemas/parsed-page.ts";
import { elementFacts } from "./elements.ts";
import { endsBefore, isVoid } from "./implied-ends.ts";
import { mainText, type TextBlock } from "./main-text.ts";
import type { Attributes, Scan, ScanReader } from "./scan-result.ts";
import { collapse } from "./values.ts";

/** A block costs a hundred bytes beside its text. Blocks of ten characters are as much as a text may hold; those beyond are not read. */
const BLOCKS_MAX = limits.textChars / 10;

interface Open {
  name: string;
  isMain: boolean;
}

/**
 * The state between two tags, which come as they were written. A start costs constant time and an end as much as it closes, so that the
 * whole is linear in the page. A class because the pass calls it at each tag and text.
 */
export class DocumentReader implements ScanReader {
  readonly #blocks: TextBlock[] = [];
  readonly #headings: ParsedDocument["headings"] = [];
  readonly #structuredData: string[] = [];

  /** Of the block being read. */
  #pieces: string[] = [];
  #chars = 0;
  #linkChars = 0;

  readonly #open: Open[] = [];
  /** How many of a name are open, so that an end tag of nothing is known without a search. */
  readonly #counts = new Map<string, number>();
  /** The place in #open of the outermost element that is left out. */
  #leftOutAt = Number.POSITIVE_INFINITY;

  #links = 0;
  #mains = 0;
  #articles = 0;
  /** How many outermost articles have begun. */
  #article = 0;
  #level = 0;
  /** The structured data being read, wherever it stands: most of it is in the head. */
  #script: string[] | undefined;
  #scriptRoom = 0;

  /** What was read, once the pass is over. */
  finish(scan: Scan): ParsedDocument {
    this.#endBlock();
    return {
      text: (mainText(this.#blocks) || scan.text).slice(0, limits.textChars),
      headings: this.#headings,
      ...(scan.description ? { description: scan.description } : {}),
      structuredData: this.#structuredData,
    };
  }

  onStart(name: string, attributes: Attributes, isEmpty: boolean): void {
    while (this.#open.length > 0 && endsBefore(this.#open.at(-1)!.name, name)) this.#endInnermost();
    if (name === "script") this.#startScript(attributes);
    const isKept = this.#open.length <= this.#leftOutAt;
    const isLeftOut = isKept && this.#isFrame(name, attributes);
    const opens = !isEmpty && !isVoid(name) && (isLeftOut || this.#open.length < limits.openElements);
    const isMain = name === "main" || attributes.role === "main";
    if (isKept && !isLeftOut) {
      if (SOFT.has(name)) this.#part();
      else if (!elementFacts(name).inline) this.#endBlock();
      if (opens) this.#step(name, isMain, 1);
    }
    if (!opens) return;
    if (isLeftOut) this.#leftOutAt = this.#open.length;
    this.#open.push({ name, isMain });
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  onText(piece: string): void {
    if (this.#script !== undefined) this.#tellScript(piece);
    if (this.#open.length > this.#leftOutAt || this.#chars >= limits.textChars) return;
    this.#pieces.push(piece);
    this.#chars += piece.length;
    if (this.#links > 0) this.#linkChars += piece.length;
  }

  onEnd(name: string): void {
    if (name === "script") this.#endScript();
    if (this.#counts.has(name)) while (this.#endInnermost() !== name);
    else if (name === "p" || name === "br") this.onStart(name, {}, true); // HTML 13.2.6.4.7: such an end tag alone makes an element
  }

  /** Its name. */
  #endInnermost(): string {
    const { name, isMain } = this.#open.pop()!;
    const others = this.#counts.get(name)! - 1;
    if (others > 0) this.#counts.set(name, others);
    else this.#counts.delete(name);
    const at = this.#open.length;
    if (at < this.#leftOutAt) {
      if (!SOFT.has(name) && !elementFacts(name).inline) this.#endBlock();
      this.#step(name, isMain, -1);
    } else if (at === this.#leftOutAt) this.#leftOutAt = Number.POSITIVE_INFINITY;
    return name;
  }

  #step(name: string, isMain: boolean, by: 1 | -1): void {
    if (name === "a") this.#links += by;
    else if (isMain) this.#mains += by;
    else if (name === "article") {
      if (by === 1 && this.#articles === 0) this.#article++;
      this.#articles += by;
    } else if (HEADING.test(name)) this.#level = by === 1 ? Number(name[1]) : 0;
  }

  #part(): void {
    if (this.#pieces.at(-1) !== " ") this.#pieces.push(" ");
  }

  #endBlock(): void {
    if (this.#pieces.length === 0) return;
    const text = collapse(this.#pieces.join(""));
    if (text !== "" && this.#blocks.length < BLOCKS_MAX) this.#addBlock(text);
    this.#pieces = [];
    this.#chars = 0;
    this.#linkChars = 0;
  }

  #addBlock(text: string): void {
    const level = this.#level;
    this.#blocks.push({
      text,
      linkShare: this.#linkChars / this.#chars,
      heading: level > 0,
      inMain: this.#mains > 0,
      article: this.#articles > 0 ? this.#article : 0,
    });
    if (level > 0 && this.#headings.length < limits.headings)
      this.#headings.push({ level, text: text.slice(0, limits.titleChars) });
  }

  #isFrame(name: string, attributes: Attributes): boolean {
    if (FRAME.has(name)) return true;
    if (name === "header" && this.#mains === 0 && this.#articles === 0) return true;
    if (elementFacts(name).inline) return false;
    const { role = "", hidden, "aria-hidden": ariaHidden } = attributes;
    return FRAME_ROLES.has(role) || ariaHidden === "true" || hidden !== undefined;
  }

  #startScript({ type }: Attributes): void {
    const isData =
      type?.trim().toLowerCase() === "application/ld+json" && this.#structuredData.length < limits.structuredBlocks;
    this.#script = isData ? [] : undefined;
    this.#scriptRoom = limits.structuredChars;
  }

  #tellScript(piece: string): void {
    this.#scriptRoom -= piece.length;
    if (this.#scriptRoom >= 0) this.#script?.push(piece);
    else this.#script = undefined;
  }

  #endScript(): void {
    const text = this.#script?.join("").trim();
    if (text !== undefined && isJson(text)) this.#structuredData.push(text);
    this.#script = undefined;
  }
}

const HEADING = /^h[1-6]$/;

/** Parts of a whole: a list or table is judged as one block, or its short lines would never count as text. */
const SOFT = new Set("br li dt dd tr td th thead tbody tfoot caption".split(" "));

/** Never part of the text, whatever the page. A form is not among them: whole pages stand inside one. */
const FRAME = new Set(
  "nav aside footer script style template noscript iframe object button select textarea datalist svg math dialog head title".split(
    " ",
  ),
);
const FRAME_ROLES = new Set(["navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu"]);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
