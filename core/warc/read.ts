// What does a stored WARC record say? The reading side of WARC 1.0 and 1.1, clauses 4 to 6, for replay, inspection and repair.
import type { Header } from "./record.ts";

export interface WarcRecord {
  ok: true;
  /** As after `WARC/`. */
  version: string;
  /** The lower-case WARC-Type, or "". */
  type: string;
  headers: Header[];
  block: Uint8Array;
  /** Where the HTTP message in the block was read; not every record has one. */
  http?: HttpMessage;
  /** The first byte after the record and its line ends. */
  end: number;
}

export interface HttpMessage {
  startLine: string;
  /** Of an answer. */
  status?: number;
  statusText?: string;
  /** One character a byte. */
  headers: Header[];
  /** As it lies in the record: ours are decoded, those of others may still be in their transfer and content codings. */
  body: Uint8Array;
}

export interface WarcFault {
  ok: false;
  /** `version`: no WARC record begins here; `head`: its headers do not end in time; `length`: none given; `short`: bytes are missing. */
  reason: "version" | "head" | "length" | "short";
}

const HEAD_BYTES_MAX = 1024 * 1024; // sixteen times what our fetcher takes as HTTP headers; others wrote larger ones

/** The record that begins at `from`; parts of it are views of `bytes`. Never throws. */
export function parseWarcRecord(bytes: Uint8Array, from = 0): WarcRecord | WarcFault {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = /^WARC\/(\d+\.\d+)\r?\n/.exec(view.toString("latin1", from, from + 16))?.[1];
  if (version === undefined) return { ok: false, reason: "version" };
  const head = readHead(view, from, "utf8");
  if (head === undefined) return { ok: false, reason: "head" };
  const length = headerOf(head.headers, "Content-Length") ?? "";
  if (!/^\d{1,15}$/.test(length)) return { ok: false, reason: "length" };
  const blockEnd = head.end + Number(length);
  if (blockEnd > view.length) return { ok: false, reason: "short" };
  const block = view.subarray(head.end, blockEnd);
  const type = (headerOf(head.headers, "WARC-Type") ?? "").toLowerCase();
  const http = isHttp(head.headers) ? httpMessage(block) : undefined;
  const record: WarcRecord = { ok: true, version, type, headers: head.headers, block, end: skipLineEnds(view, blockEnd) };
  return http ? { ...record, http } : record;
}

/** The first value of that name, in any case. */
export function headerOf(headers: readonly Header[], name: string): string | undefined {
  const lower = name.toLowerCase();
  return headers.find(([each]) => each.toLowerCase() === lower)?.[1];
}

function isHttp(headers: readonly Header[]): boolean {
  return (headerOf(headers, "Content-Type") ?? "").toLowerCase().startsWith("application/http");
}

function httpMessage(block: Buffer): HttpMessage | undefined {
  const head = readHead(block, 0, "latin1");
  if (head === undefined) return undefined;
  const message = { startLine: head.startLine, headers: head.headers, body: block.subarray(head.end) };
  const answer = /^HTTP\/\d+(?:\.\d+)? (\d{3})(?: (.*))?$/.exec(head.startLine);
  return answer ? { ...message, status: Number(answer[1]), statusText: answer[2] ?? "" } : message;
}

/** A start line and header lines up to a blank line, or to the end of the bytes where a writer left the blank line out. */
function readHead(bytes: Buffer, from: number, encoding: "utf8" | "latin1") {
  const limit = Math.min(bytes.length, from + HEAD_BYTES_MAX);
  const lines: string[] = [];
  let at = from;
  while (at < limit) {
    const found = bytes.indexOf(10, at);
    const lineEnd = found < 0 ? bytes.length : found;
    if (lineEnd > limit) return undefined;
    const line = bytes.toString(encoding, at, lineEnd).replace(/\r$/, "");
    at = Math.min(lineEnd + 1, bytes.length);
    if (line === "") return { startLine: lines[0] ?? "", headers: headersOf(lines.slice(1)), end: at };
    lines.push(line);
  }
  return at === bytes.length ? { startLine: lines[0] ?? "", headers: headersOf(lines.slice(1)), end: at } : undefined;
}

function headersOf(lines: readonly string[]): Header[] {
  const folded: { name: string; parts: string[] }[] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (/^[ \t]/.test(line)) folded.at(-1)?.parts.push(line.trim());
    else if (colon > 0) folded.push({ name: line.slice(0, colon).trimEnd(), parts: [line.slice(colon + 1).trim()] });
  }
  return folded.map(({ name, parts }) => [name, parts.join(" ")]);
}

function skipLineEnds(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] === 10 || bytes[at] === 13)) at++;
  return at;
}
