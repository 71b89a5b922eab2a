// Where does the capture of a URL lie? Lines of the cdxj index as pywb and cdxj-indexer write and read them.
import { headerOf, type WarcRecord } from "./read.ts";
import type { Header } from "./record.ts";
import { surt } from "./surt.ts";

/** CdxjFields of ports/archive.ts. */
export interface CaptureFields {
  url: string;
  /** Unix ms of the capture. */
  at: number;
  status: number;
  /** Lower case, without parameters; `unk` where none was sent, `warc/revisit` for a revisit. */
  mime: string;
  /** `sha1:` and base32; `-` where the payload is not known. */
  digest: string;
}

export interface IndexedAt {
  /** The file's own name, without folder. */
  segment: string;
  offset: number;
  length: number;
}

/** `key timestamp {json}` and a line end; the numbers in the JSON are text, as readers expect. */
export function cdxjLine(fields: CaptureFields, stored: IndexedAt): string {
  const json = JSON.stringify({
    url: fields.url,
    mime: fields.mime,
    status: String(fields.status),
    digest: fields.digest,
    length: String(stored.length),
    offset: String(stored.offset),
    filename: stored.segment,
  });
  return `${surt(fields.url)} ${timestamp14(fields.at)} ${json}\n`;
}

/** YYYYMMDDhhmmss, UTC. */
function timestamp14(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace(/[-T:]/g, "");
}

/** Where the record lies that the line speaks of; undefined for what is not a whole line, such as one that begins with a hole. */
export function cdxjPlace(line: string): IndexedAt | undefined {
  const json = /^[!-~]+ \d{14} (\{.*\})$/.exec(line)?.[1];
  if (json === undefined) return undefined;
  try {
    const { filename, offset, length } = JSON.parse(json);
    const place = { segment: filename, offset: Number(offset), length: Number(length) };
    const whole = Number.isSafeInteger(place.offset) && place.offset >= 0 && Number.isSafeInteger(place.length);
    return whole && place.length > 0 && typeof filename === "string" ? place : undefined;
  } catch {
    return undefined;
  }
}

/** What the index says of a stored record; undefined for kinds it does not list. */
export function fieldsOf(record: WarcRecord): CaptureFields | undefined {
  const url = headerOf(record.headers, "WARC-Target-URI");
  const at = Date.parse(headerOf(record.headers, "WARC-Date") ?? "");
  const status = record.http?.status;
  const listed = record.type === "response" || record.type === "revisit";
  if (!listed || url === undefined || status === undefined || Number.isNaN(at)) return undefined;
  const mime = record.type === "revisit" ? "warc/revisit" : mimeOf(record.http!.headers);
  return { url, at, status, mime, digest: headerOf(record.headers, "WARC-Payload-Digest") ?? "-" };
}

const MIME_CHARS = 255; // RFC 6838, 4.2: 127 characters for each of type and subtype

export function mimeOf(headers: readonly Header[]): string {
  const value = headerOf(headers, "Content-Type") ?? "";
  const mime = value.split(/[;\s]/, 1)[0]!.toLowerCase();
  return /^[!-~]+$/.test(mime) && mime.length <= MIME_CHARS ? mime : "unk";
}
