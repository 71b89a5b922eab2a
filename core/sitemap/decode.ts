// Which characters are these bytes? A sitemap is UTF-8 by its protocol; byte order marks, headers and XML declarations that say
// otherwise are believed.

const CHUNK_BYTES = 16 * 1024; // bounds what a tokenizer holds at once, and what it does after it was told to stop
const HEAD_BYTES = 256; // where an XML declaration is looked for

/** The text in pieces, none empty; blanks and marks before the first character are left out, so a blank document has no piece. */
export function* decodeChunks(bytes: Uint8Array, contentType: string): Generator<string, undefined> {
  const decoder = decoderOf(bytes, contentType);
  let begun = false;
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const decoded: string = decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: true });
    const text: string = begun ? decoded : decoded.trimStart(); // U+FEFF counts as white space
    begun ||= text !== "";
    if (text !== "") yield text;
  }
  const rest = decoder.decode();
  if (rest !== "") yield rest;
}

function decoderOf(bytes: Uint8Array, contentType: string): InstanceType<typeof TextDecoder> {
  const label = marked(bytes) ?? declared(contentType.slice(0, HEAD_BYTES)) ?? declared(headOf(bytes)) ?? "utf-8";
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder(); // a label nobody knows
  }
}

/** By byte order mark, or by the zero beside the first `<`. */
function marked([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0x3c && second === 0) return "utf-16le";
  if (first === 0 && second === 0x3c) return "utf-16be";
  return undefined;
}

/** `charset=…` of a header, `encoding="…"` of a declaration. UTF-16 can be read by a mark alone: text that says so is not. */
function declared(text: string): string | undefined {
  const label = /(?:charset|^\s*<\?xml[^>]{0,200}?encoding)\s{0,9}=\s{0,9}["']?([A-Za-z0-9._:-]{1,40})/i.exec(text)?.[1];
  return label === undefined || /^utf-?16/i.test(label) ? undefined : label;
}

function headOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, HEAD_BYTES)).toString("latin1");
  return /^\s*<\?xml/.test(head) ? head : "";
}
