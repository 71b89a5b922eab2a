// What does one pass over the markup tell of a page? Links, metadata and visible text, without a tree: htmlparser2's tokenizer and
// a few counters, so that neither depth nor unclosed elements cost anything.
import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";
import { limits } from "../../schemas/limits.ts";
import { metaDirectives } from "../http/robots-tag.ts";
import { type ElementFacts, elementFacts, isForeign } from "./elements.ts";
import type { Attributes, Scan, ScanReader } from "./scan-result.ts";
import { collapse, hasToken, languageOf, withoutFragment } from "./values.ts";

export interface ScanOptions {
  /** XHTML: names are case-sensitive, no element is raw text, any may close itself. */
  xml: boolean;
  productToken: string;
  /** Who wants to read along. */
  reader?: ScanReader | undefined;
}

/** Of one page, before they are normalised: generous, since many spellings may name one URL. */
const HREFS_MAX = 10 * limits.linksPerPage;

export function scanMarkup(markup: string, options: ScanOptions): Scan {
  const pass = new Pass(markup, options);
  const tokenizer = new Tokenizer({ xmlMode: options.xml, decodeEntities: true }, pass);
  tokenizer.write(markup);
  tokenizer.end();
  return pass.finish();
}

const NO_ATTRIBUTES: Attributes = {};
/** What a reader wants to know of any element. */
const READER_ATTRIBUTES: readonly string[] = ["role", "hidden", "aria-hidden", "type"];

/** The state between two tokens. A class because the tokenizer calls fifteen methods on it, millions of times. */
class Pass implements TokenizerCallbacks {
  readonly #markup: string;
  readonly #options: ScanOptions;
  readonly #reader: ScanReader | undefined;
  readonly #names: Set<string>;
  readonly #scan: Scan = emptyScan();
  #text: string[] = [];
  #textRoom: number = limits.textChars;
  #title: string | undefined;
  #inTitle = false;

  #name = "";
  #facts: ElementFacts = elementFacts("");
  #attributes = NO_ATTRIBUTES;
  /** The attribute being read, where it is wanted. */
  #attribute = "";
  #value = "";

  /** The inert element we are in, and how many of its name are open. */
  #inert = "";
  #inertDepth = 0;
  #noscripts = 0;
  #foreigns = 0;

  constructor(markup: string, options: ScanOptions) {
    this.#markup = markup;
    this.#options = options;
    this.#reader = options.reader;
    this.#names = new Set(["robots", options.productToken.toLowerCase()]);
  }

  finish(): Scan {
    const scan = this.#scan;
    scan.title = collapse(this.#title ?? "").slice(0, limits.titleChars);
    scan.text = collapse(this.#text.join(""));
    return scan;
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#nameAt(start, end);
    this.#facts = elementFacts(this.#name);
    this.#attributes = NO_ATTRIBUTES;
  }

  onattribname(start: number, end: number): void {
    this.#attribute = "";
    const { attributes } = this.#facts;
    if (this.#inertDepth > 0 || (attributes.length === 0 && this.#reader === undefined)) return;
    const name = this.#markup.slice(start, end).toLowerCase();
    const isWanted = attributes.includes(name) || (this.#reader !== undefined && READER_ATTRIBUTES.includes(name));
    if (isWanted && this.#attributes[name] === undefined) this.#attribute = name;
  }

  onattribdata(start: number, end: number): void {
    if (this.#attribute !== "" && this.#value.length <= limits.attributeChars) this.#value += this.#markup.slice(start, end);
  }

  onattribentity(code: number): void {
    if (this.#attribute !== "" && this.#value.length <= limits.attributeChars) this.#value += String.fromCodePoint(code);
  }

  onattribend(): void {
    if (this.#attribute === "") return;
    if (this.#value.length <= limits.attributeChars) {
      if (this.#attributes === NO_ATTRIBUTES) this.#attributes = {};
      this.#attributes[this.#attribute] = this.#value;
    } else if (this.#attribute === "href" && (this.#name === "a" || this.#name === "area")) this.#scan.hrefsTooLong++;
    this.#attribute = "";
    this.#value = "";
  }

  onopentagend(): void {
    this.#opened(false);
  }

  onselfclosingtag(): void {
    this.#opened(this.#options.xml || this.#foreigns > 0);
  }

  onclosetag(start: number, end: number): void {
    const name = this.#nameAt(start, end);
    this.#reader?.onEnd(name);
    if (this.#inertDepth > 0) {
      if (name === this.#inert && --this.#inertDepth === 0) this.#inTitle = false;
    } else if (name === "noscript") this.#noscripts = Math.max(0, this.#noscripts - 1);
    else if (isForeign(name)) this.#foreigns = Math.max(0, this.#foreigns - 1);
    if (!elementFacts(name).inline) this.#part();
  }

  ontext(start: number, end: number): void {
    this.#say(this.#markup.slice(start, end));
  }

  ontextentity(code: number): void {
    this.#say(String.fromCodePoint(code));
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.#options.xml || this.#foreigns > 0) this.ontext(start, end - endOffset);
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #nameAt(start: number, end: number): string {
    const name = this.#markup.slice(start, end);
    return this.#options.xml ? name : name.toLowerCase();
  }

  #opened(closed: boolean): void {
    const name = this.#name;
    this.#reader?.onStart(name, this.#attributes, closed);
    if (!this.#facts.inline) this.#part();
    if (this.#inertDepth > 0) {
      // Only templates nest; the others hold text, whatever it looks like.
      if (name === "template" && this.#inert === "template" && !closed) this.#inertDepth++;
      return;
    }
    if (this.#facts.attributes.length > 0) this.#read(name, this.#attributes);
    if (closed) return;
    if (this.#facts.inert) this.#enterInert(name);
    else if (name === "noscript") this.#noscripts++;
    else if (isForeign(name)) this.#foreigns++;
  }

  /** A title inside svg names a shape, not the page. */
  #enterInert(name: string): void {
    this.#inert = name;
    this.#inertDepth = 1;
    this.#inTitle = name === "title" && this.#foreigns === 0 && this.#title === undefined;
    if (this.#inTitle) this.#title = "";
  }

  #read(name: string, attributes: Attributes): void {
    const scan = this.#scan;
    if (name === "a" || name === "area") this.#link(attributes);
    else if (name === "html") scan.language ??= languageOf(attributes.lang ?? attributes["xml:lang"]);
    else if (name === "meta") this.#meta(attributes);
    else if (this.#noscripts > 0)
      return; // a way round for browsers without scripts, not what the page is
    else if (name === "base") scan.baseHref ??= attributes.href;
    else if (name === "link" && hasToken(attributes.rel, "canonical")) scan.canonicalHref ??= attributes.href;
  }

  #link({ href, rel }: Attributes): void {
    if (href === undefined) return;
    const target = withoutFragment(href);
    const follow = !hasToken(rel, "nofollow");
    const { hrefs } = this.#scan;
    const known = hrefs.get(target);
    if (known === undefined && hrefs.size >= HREFS_MAX) this.#scan.hrefsBeyond++;
    else if (known !== true) hrefs.set(target, follow);
  }

  #meta(attributes: Attributes): void {
    const { content } = attributes;
    if (content === undefined) return;
    const scan = this.#scan;
    const name = (attributes.name ?? attributes.property ?? "").trim().toLowerCase();
    if (this.#names.has(name)) {
      const directives = metaDirectives(content);
      scan.noindex ||= directives.noindex;
      scan.nofollow ||= directives.nofollow;
    } else if (name === "description" || name === "og:description") scan.description ??= collapse(content);
    const isRefresh = attributes["http-equiv"]?.trim().toLowerCase() === "refresh";
    if (isRefresh && this.#noscripts === 0) scan.refresh ??= content;
  }

  #say(piece: string): void {
    this.#reader?.onText(piece);
    if (this.#inertDepth === 0) {
      if (this.#noscripts === 0) this.#show(piece);
    } else if (this.#inTitle) this.#entitle(piece);
  }

  #show(piece: string): void {
    if (this.#textRoom <= 0) return;
    this.#textRoom -= piece.length;
    this.#text.push(this.#textRoom < 0 ? piece.slice(0, this.#textRoom) : piece);
  }

  #part(): void {
    if (this.#text.length > 0 && this.#text.at(-1) !== " ") this.#text.push(" ");
  }

  #entitle(piece: string): void {
    if (this.#title !== undefined && this.#title.length <= 4 * limits.titleChars) this.#title += piece;
  }
}

function emptyScan(): Scan {
  return {
    hrefs: new Map(),
    hrefsBeyond: 0,
    hrefsTooLong: 0,
    baseHref: undefined,
    canonicalHref: undefined,
    refresh: undefined,
    title: "",
    language: undefined,
    description: undefined,
    noindex: false,
    nofollow: false,
    text: "",
  };
}
