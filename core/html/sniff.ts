// What is a body whose type is not said, or said by a server that says it of everything? WHATWG MIME Sniffing 7, as far as markup and text go.

export interface SniffOptions {
  /** X-Content-Type-Options: nosniff. */
  noSniff?: boolean;
}

/** Markup and text by their name; everything else, pictures, archives and PDF among it, is one to us. */
export type SniffedType = "text/html" | "text/xml" | "text/plain" | "application/octet-stream";

/**
 * The type to read a body by. `type` is the essence that Content-Type names ("" for none), `header` its whole value. Only an unknown type
 * is guessed at, and a plain text that old Apache servers say of all files is looked at for bytes that no text has.
 */
export function typeOf(bytes: Uint8Array, type: string, header: string, options: SniffOptions = {}): string {
  if (UNKNOWN.has(type)) return unknownType(bytes, options.noSniff !== true);
  if (options.noSniff !== true && APACHE_DEFAULTS.has(header)) return isText(headOf(bytes)) ? type : "application/octet-stream";
  return type;
}

/**
 * Whether the values of X-Content-Type-Options, in order, say nosniff: the first word of the first value decides (Fetch, "determine
 * nosniff").
 */
export function sniffForbidden(values: readonly string[]): boolean {
  const first = values[0]?.split(",", 1)[0];
  return first !== undefined && first.trim().toLowerCase() === "nosniff";
}

/** 7: step 2. */
const UNKNOWN = new Set(["", "unknown/unknown", "application/unknown", "*/*"]);

/** 5.1, step 2.3: to the byte, for these are not what a person has written. */
const APACHE_DEFAULTS = new Set([
  "text/plain",
  "text/plain; charset=ISO-8859-1",
  "text/plain; charset=iso-8859-1",
  "text/plain; charset=UTF-8",
]);

/** 5.2: a resource header. */
const HEAD_BYTES = 1445;

function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString("latin1");
}

/** 7.1; `scriptable` types are those that could run something. */
function unknownType(bytes: Uint8Array, scriptable: boolean): SniffedType {
  const head = headOf(bytes);
  if (scriptable && HTML.test(head)) return "text/html";
  if (scriptable && XML.test(head)) return "text/xml";
  if (BYTE_ORDER_MARK.test(head)) return "text/plain";
  if ((scriptable && head.startsWith("%PDF-")) || OTHER.test(head)) return "application/octet-stream";
  return BINARY.test(head) ? "application/octet-stream" : "text/plain";
}

/** 7.2. */
function isText(head: string): boolean {
  return BYTE_ORDER_MARK.test(head) || !BINARY.test(head);
}

const HTML =
  /^[\t\n\f\r ]{0,1445}<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[ >]/i;
const XML = /^[\t\n\f\r ]{0,1445}<\?xml/;
const BYTE_ORDER_MARK = /^(?:\xfe\xff|\xff\xfe|\xef\xbb\xbf)/;

/** 4.3: bytes that stand in no text. */
const BINARY = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/** Of the signatures in 6 and 7.1 those that could pass for text: the others begin with, or soon hold, bytes that no text has. */
const OTHER = /^(?:%!PS-Adobe-|GIF8[79]a|BM|\xff\xd8\xff|RIFF[\x00-\xff]{4}(?:WEBPVP|WAVE|AVI )|FORM[\x00-\xff]{4}AIFF|ID3)/;
