// Which characters do these bytes mean? The encoding sniffing algorithm of HTML (13.2.3), decoded as the Encoding standard says.

/** Where an encoding was told; `guess` is UTF-8 if the bytes are valid as such, else windows-1252. */
export type CharsetSource = "bom" | "transport" | "meta" | "xml" | "guess";

export interface DecodedText {
  text: string;
  /** Lower-case name of the Encoding standard. */
  charset: string;
  source: CharsetSource;
}

/** HTML 13.2.3.2: no more than this is searched for a declaration. */
const PRESCAN_BYTES = 1024;
/** HTML 13.2.3.5: a later meta counts too, once the parser meets it as an element. In a page of the usual size it stands before this. */
const LATE_PRESCAN_BYTES = 16 * 1024;
const FALLBACK = "windows-1252";

/** `transport` is the charset of Content-Type. Bytes that mean nothing become U+FFFD; a byte order mark is not part of the text. */
export function decodeMarkup(bytes: Uint8Array, transport: string | undefined): DecodedText {
  return decodeAs(bytes, declaredCharset(bytes, transport) ?? prescanned(bytes) ?? lateMeta(bytes));
}

/** As decodeMarkup, for text that cannot declare anything in itself. */
export function decodePlain(bytes: Uint8Array, transport: string | undefined): DecodedText {
  return decodeAs(bytes, declaredCharset(bytes, transport));
}

interface Declaration {
  charset: string;
  source: CharsetSource;
}

function decodeAs(bytes: Uint8Array, declaration: Declaration | undefined): DecodedText {
  if (declaration !== undefined) return { text: decoderOf(declaration.charset).decode(bytes), ...declaration };
  try {
    return { text: strictUtf8.decode(bytes), charset: "utf-8", source: "guess" };
  } catch {
    return { text: decoderOf(FALLBACK).decode(bytes), charset: FALLBACK, source: "guess" };
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });
const decoders = new Map<string, typeof strictUtf8>(); // one for each encoding there is, about forty

function decoderOf(charset: string): typeof strictUtf8 {
  let decoder = decoders.get(charset);
  if (decoder === undefined) {
    decoder = new TextDecoder(charset);
    decoders.set(charset, decoder);
  }
  return decoder;
}

function declaredCharset(bytes: Uint8Array, transport: string | undefined): Declaration | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { charset: "utf-8", source: "bom" };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { charset: "utf-16be", source: "bom" };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { charset: "utf-16le", source: "bom" };
  const charset = transport === undefined ? undefined : encodingOf(transport);
  return charset === undefined ? undefined : { charset, source: "transport" };
}

const LABEL_CHARS_MAX = 40; // the standard's longest is 19

/** The encoding that a label stands for, or undefined: unknown, or one the standard replaces because it was used in attacks. */
function encodingOf(label: string): string | undefined {
  const name = label.trim();
  if (name === "" || name.length > LABEL_CHARS_MAX) return undefined;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}

/** In a declaration inside the page, UTF-16 cannot be true (it was read as ASCII), and x-user-defined means windows-1252. */
function encodingInside(label: string): string | undefined {
  const encoding = encodingOf(label);
  if (encoding === "utf-16le" || encoding === "utf-16be") return "utf-8";
  return encoding === "x-user-defined" ? FALLBACK : encoding;
}

function prescanned(bytes: Uint8Array): Declaration | undefined {
  const head = headOf(bytes, PRESCAN_BYTES);
  if (head.startsWith("<\0?\0x\0")) return { charset: "utf-16le", source: "xml" };
  if (head.startsWith("\0<\0?\0x")) return { charset: "utf-16be", source: "xml" };
  const meta = metaCharset(head);
  if (meta !== undefined) return { charset: meta, source: "meta" };
  const xml = xmlCharset(head);
  return xml === undefined ? undefined : { charset: xml, source: "xml" };
}

function lateMeta(bytes: Uint8Array): Declaration | undefined {
  if (bytes.length <= PRESCAN_BYTES) return undefined;
  const meta = metaCharset(headOf(bytes, LATE_PRESCAN_BYTES), true);
  return meta === undefined ? undefined : { charset: meta, source: "meta" };
}

function headOf(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length)).toString("latin1");
}

function xmlCharset(head: string): string | undefined {
  if (!head.startsWith("<?xml")) return undefined;
  const declaration = head.slice(0, head.indexOf(">") + 1);
  const found = /encoding[\x00-\x20]*=[\x00-\x20]*(?:"([^"\x00-\x20]*)"|'([^'\x00-\x20]*)')/.exec(declaration);
  const label = found?.[1] ?? found?.[2];
  return label === undefined ? undefined : encodingInside(label);
}

/**
 * HTML 13.2.3.2, "prescan a byte stream": comments and tags are stepped over, the first meta that declares a charset counts. The prescan
 * does not know elements of raw text; a parser does, and with `asParsed` they are stepped over too.
 */
function metaCharset(head: string, asParsed = false): string | undefined {
  let at = 0;
  while (at < head.length) {
    at = head.indexOf("<", at);
    if (at < 0) return undefined;
    if (head.startsWith("<!--", at)) {
      const end = head.indexOf("-->", at + 2);
      if (end < 0) return undefined;
      at = end + 3;
    } else if (/^<\/?[a-z]/i.test(head.slice(at, at + 3))) {
      const tag = readTag(head, at);
      const charset = tag.isMeta ? charsetOfMeta(tag.attributes) : undefined;
      if (charset !== undefined) return charset;
      at = asParsed ? afterRawText(head, at, tag.end) : tag.end;
    } else if (/^[!/?]/.test(head.slice(at + 1, at + 2))) {
      const end = head.indexOf(">", at);
      if (end < 0) return undefined;
      at = end + 1;
    } else at++;
  }
  return undefined;
}

/** Behind the content of the raw text element that begins at `start`; other tags have no such content. */
function afterRawText(head: string, start: number, tagEnd: number): number {
  RAW_TEXT.lastIndex = start;
  const name = RAW_TEXT.exec(head)?.[1];
  if (name === undefined) return tagEnd;
  const closing = new RegExp(`</${name}[\\t\\n\\f\\r />]`, "ig");
  closing.lastIndex = tagEnd;
  return closing.exec(head)?.index ?? head.length;
}

const RAW_TEXT = /<(script|style|title|textarea|xmp|iframe|noembed|noframes)(?=[\t\n\f\r />])/iy;

interface PrescannedTag {
  isMeta: boolean;
  attributes: Map<string, string>;
  end: number;
}

/** A tag that the window cuts off declares nothing: its last attribute may be half of one. */
function readTag(head: string, start: number): PrescannedTag {
  const attributes = new Map<string, string>();
  const isMeta = /^<meta[\t\n\f\r /]/i.test(head.slice(start, start + 6));
  let at = start + 1;
  while (at < head.length && !/[\t\n\f\r >]/.test(head[at] as string) && !(isMeta && head[at] === "/")) at++;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(head);
    if (found === null) break;
    at = ATTRIBUTE.lastIndex;
    const name = (found[1] as string).toLowerCase();
    const value = found[2] ?? found[3] ?? found[4] ?? "";
    if (!attributes.has(name)) attributes.set(name, value.toLowerCase());
  }
  while (at < head.length && /[\t\n\f\r /]/.test(head[at] as string)) at++;
  if (head[at] === ">") return { isMeta, attributes, end: at + 1 };
  return { isMeta: false, attributes, end: head.length };
}

const ATTRIBUTE =
  /[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >"'][^\t\n\f\r >]*)|(?=>)))?/y;

function charsetOfMeta(attributes: Map<string, string>): string | undefined {
  const charset = attributes.get("charset");
  if (charset !== undefined) return encodingInside(charset);
  const content = attributes.get("content");
  if (content === undefined || attributes.get("http-equiv") !== "content-type") return undefined;
  const label = charsetInContent(content);
  return label === undefined ? undefined : encodingInside(label);
}

/** HTML 4.2.5.3, "extracting a character encoding from a meta element": of lower-case content. */
function charsetInContent(content: string): string | undefined {
  const found = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r ;"'][^\t\n\f\r ;]*))/.exec(content);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}
