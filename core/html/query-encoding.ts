// How does a link's query leave a page of a legacy encoding? In the bytes of that encoding: HTML 2.4.1, "encoding-parse a URL", and the query state of the URL standard.

/** `href` with each character of its query that is not ASCII escaped as `charset` (a name of the Encoding standard) writes it. */
export function withEncodedQuery(href: string, charset: string): string {
  if (ALWAYS_UTF8.has(charset) || !NOT_ASCII.test(href)) return href;
  const question = href.indexOf("?");
  const hash = href.indexOf("#");
  const end = hash < 0 ? href.length : hash;
  if (question < 0 || question > end) return href;
  const query = href.slice(question, end);
  if (!NOT_ASCII.test(query)) return href;
  const encoder = encoderOf(charset);
  let encoded = "";
  for (const character of query) encoded += character < "\x80" ? character : (encoder.get(character) ?? reference(character));
  return href.slice(0, question) + encoded + href.slice(end);
}

/**
 * Encoding 4.3: these have UTF-8 as their output encoding. ISO-2022-JP writes characters by shifting between tables, and hardly a page is
 * left in it: its queries leave as UTF-8 too.
 */
const ALWAYS_UTF8 = new Set(["utf-8", "utf-16le", "utf-16be", "replacement", "iso-2022-jp"]);
const NOT_ASCII = /[^\x00-\x7f]/;

/** URL 1.3: a character that the encoding lacks is sent as an HTML reference. */
function reference(character: string): string {
  return `%26%23${character.codePointAt(0)}%3B`;
}

/** From a character to its escaped bytes. */
type Encoder = ReadonlyMap<string, string>;

const encoders = new Map<string, Encoder>(); // at most one for each encoding there is, about forty

function encoderOf(charset: string): Encoder {
  let encoder = encoders.get(charset);
  if (encoder === undefined) {
    encoder = turnedRound(charset);
    encoders.set(charset, encoder);
  }
  return encoder;
}

/** The decoder turned round: all sequences of one and two bytes are decoded at once, a line each. GB18030's of four bytes are left out. */
function turnedRound(charset: string): Encoder {
  const sequences: [number, number?][] = [];
  // Encoding 10.2.2: GB18030 reads a byte 80 as the euro sign, and writes two others.
  if (charset !== "gb18030") for (let byte = 0x80; byte <= 0xff; byte++) sequences.push([byte]);
  if (MULTIBYTE.has(charset))
    for (let lead = charset === "big5" ? BIG5_FIRST : 0x81; lead <= 0xfe; lead++)
      for (let trail = 0x40; trail <= 0xfe; trail++) sequences.push([lead, trail]);
  const bytes = Uint8Array.from(sequences.flatMap((sequence) => [...sequence, 0x0a] as number[]));
  const lines = new TextDecoder(charset).decode(bytes).split("\n");
  const encoder = new Map<string, string>();
  for (const [at, sequence] of sequences.entries()) {
    const character = lines[at] as string;
    const isOne =
      character !== "" && character !== "\ufffd" && character.length === (character.codePointAt(0)! > 0xffff ? 2 : 1);
    if (isOne && !encoder.has(character) && !isDecodedOnly(charset, sequence)) encoder.set(character, escaped(sequence));
  }
  return encoder;
}

const MULTIBYTE = new Set(["gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis"]);
/** Encoding 11.1.1: the encoder knows nothing of the Hong Kong characters before it. */
const BIG5_FIRST = 0xa1;

/** Encoding 12.3.2: NEC's copies of IBM's characters are read, and not written. */
function isDecodedOnly(charset: string, [lead]: [number, number?]): boolean {
  return charset === "shift_jis" && (lead === 0xed || lead === 0xee);
}

/** What may stand in a query as it is, stands as it is. */
function escaped(bytes: [number, number?]): string {
  return (bytes as number[])
    .map((byte) =>
      byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");
}
