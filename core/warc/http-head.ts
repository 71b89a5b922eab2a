// How is what was sent and answered written down as HTTP/1? RFC 9112, for the blocks of WARC records.
import { type Header, oneLine } from "./record.ts";

/** Start line and headers with the blank line that ends them. No name or value can end its line or the head. */
export function httpHead(startLine: string, headers: readonly Header[]): Uint8Array {
  const first = `${oneLine(startLine)}\r\n`;
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${first}${lines.join("")}\r\n`;
  if (!NO_BYTE.test(head)) return Buffer.from(head, "latin1");
  return Buffer.concat([...[first, ...lines].map(lineBytes), lineEnd]);
}

const lineEnd = Buffer.from("\r\n");

/** Headers that may be written: names are tokens (RFC 9110, 5.6.2), values one line, the pseudo-headers of HTTP/2 are gone. */
export function writableHeaders(headers: readonly Header[]): Header[] {
  return headers
    .filter(([name]) => !name.startsWith(":"))
    .map(([name, value]) => [TOKEN.test(name) ? name : name.replace(NO_TOKEN_CHAR, "_") || "_", oneLine(value)]);
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const NO_TOKEN_CHAR = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/g;

/** Values came as bytes, one a character; a line that cannot have come so is written as UTF-8. */
function lineBytes(line: string): Buffer {
  return Buffer.from(line, NO_BYTE.test(line) ? "utf8" : "latin1");
}

const NO_BYTE = /[^\x00-\xff]/;

/** The body is kept after transfer and content decoding: what no longer describes it stays under another name. */
export function describeDecoded(headers: readonly Header[], bodyBytes: number): Header[] {
  const length = String(bodyBytes);
  const lengths = headers.filter(([name]) => name.toLowerCase() === "content-length");
  const lengthHolds = lengths.length === 1 && lengths[0]![1] === length;
  const described = headers.map(([name, value]): Header => {
    const lower = name.toLowerCase();
    const replaced = lower === "content-length" ? !lengthHolds : bodyCodings.has(lower);
    return [replaced ? `X-Archive-Orig-${name}` : name, value];
  });
  return lengthHolds ? described : [...described, ["Content-Length", length]];
}

/** A 304 has no body, so nothing is corrected; but readers must not try to decode one. */
export function describeAbsent(headers: readonly Header[]): Header[] {
  return headers.map(([name, value]) => {
    const lower = name.toLowerCase();
    return [lower === "content-length" || bodyCodings.has(lower) ? `X-Archive-Orig-${name}` : name, value];
  });
}

const bodyCodings = new Set(["content-encoding", "transfer-encoding"]);
