// Which records keep one exchange with a server? A request and a response or revisit record, WARC 1.1 clauses 6.3, 6.4 and 6.7.
import { type CaptureFields, mimeOf } from "./cdxj.ts";
import { describeAbsent, describeDecoded, httpHead, writableHeaders } from "./http-head.ts";
import { type Header, labelledDigest, oneLine, recordId, warcDate, warcRecord } from "./record.ts";

export interface Capture {
  /** Of the response and the request record: UUIDs, or 22 characters of base64url. */
  id: string;
  requestId: string;
  /** Absolute. */
  url: string;
  /** Unix ms of sending. */
  at: number;
  /** The address connected to, or "". */
  address: string;
  method: "GET";
  requestHeaders: readonly Header[];
  status: number;
  statusText: string;
  httpVersion: "1.0" | "1.1" | "2";
  headers: readonly Header[];
  /** After transfer and content decoding. */
  body: Uint8Array;
  /** Why the body is not whole. */
  truncated?: "length" | "time" | "disconnect" | "unspecified";
  /**
   * The capture that holds this payload: its url and its `at`. A 304 has no bytes to take a digest of; `digest` is that of the payload it
   * vouches for, labelled, where it is known.
   */
  revisitOf?: { url: string; at: number; profile: "identical-payload-digest" | "server-not-modified"; digest?: string };
}

/** Assignable to ArchiveRecord of ports/archive.ts. */
export interface CaptureRecord {
  bytes: Uint8Array[];
  index?: CaptureFields;
}

const PROFILES = "http://netpreserve.org/warc/1.1/revisit/";

/** The request record, then the response or revisit record, which is the one with an index. */
export function captureRecords(capture: Capture): [request: CaptureRecord, response: CaptureRecord] {
  return [requestRecord(capture), capture.revisitOf ? revisitRecord(capture, capture.revisitOf) : responseRecord(capture)];
}

function requestRecord(capture: Capture): CaptureRecord {
  const target = URL.parse(capture.url);
  const headers = writableHeaders(capture.requestHeaders);
  // HTTP/2 names the host in a pseudo-header, HTTP/1.1 requires this one
  if (!headers.some(([name]) => name.toLowerCase() === "host")) headers.unshift(["Host", target?.host ?? ""]);
  const startLine = `${capture.method} ${target ? target.pathname + target.search : "/"} ${protocolOf(capture)}`;
  return exchangeRecord(capture, "request", [], [httpHead(startLine, headers)]);
}

function responseRecord(capture: Capture): CaptureRecord {
  const headers = describeDecoded(writableHeaders(capture.headers), capture.body.length);
  const digest = labelledDigest([capture.body]);
  const own: Header[] = [["WARC-Payload-Digest", digest]];
  if (capture.truncated !== undefined) own.push(["WARC-Truncated", capture.truncated]);
  const { bytes } = exchangeRecord(capture, "response", own, [responseHead(capture, headers), capture.body]);
  return { bytes, index: indexFields(capture, mimeOf(headers), digest) };
}

/** Without the payload. A 304 comes without bytes: its digest is that of the payload it vouches for, never one of no bytes. */
function revisitRecord(capture: Capture, original: NonNullable<Capture["revisitOf"]>): CaptureRecord {
  const identical = original.profile === "identical-payload-digest";
  const writable = writableHeaders(capture.headers);
  const headers = identical ? describeDecoded(writable, capture.body.length) : describeAbsent(writable);
  const digest = identical ? labelledDigest([capture.body]) : original.digest;
  const own: Header[] = [
    ["WARC-Profile", PROFILES + original.profile],
    ["WARC-Refers-To-Target-URI", original.url],
    ["WARC-Refers-To-Date", warcDate(original.at)],
  ];
  if (digest !== undefined) own.push(["WARC-Payload-Digest", digest]);
  const { bytes } = exchangeRecord(capture, "revisit", own, [responseHead(capture, headers)]);
  return { bytes, index: indexFields(capture, "warc/revisit", digest ?? "-") };
}

function responseHead(capture: Capture, headers: readonly Header[]): Uint8Array {
  return httpHead(`${protocolOf(capture)} ${capture.status} ${capture.statusText}`, headers);
}

function protocolOf(capture: Capture): string {
  return capture.httpVersion === "1.0" ? "HTTP/1.0" : "HTTP/1.1";
}

type ExchangeType = "request" | "response" | "revisit";

function exchangeRecord(capture: Capture, type: ExchangeType, own: readonly Header[], block: Uint8Array[]): CaptureRecord {
  const [id, other] = type === "request" ? [capture.requestId, capture.id] : [capture.id, capture.requestId];
  const headers: Header[] = [
    ["WARC-Type", type],
    ["WARC-Record-ID", recordId(id)],
    ["WARC-Date", warcDate(capture.at)],
    ["WARC-Target-URI", capture.url],
    ["WARC-Concurrent-To", recordId(other)],
    ...own,
    ["WARC-Block-Digest", labelledDigest(block)],
  ];
  if (capture.address !== "") headers.push(["WARC-IP-Address", capture.address]);
  headers.push(["Content-Type", `application/http; msgtype=${type === "request" ? "request" : "response"}`]);
  return { bytes: warcRecord(headers, block) };
}

function indexFields(capture: Capture, mime: string, digest: string): CaptureFields {
  return { url: oneLine(capture.url), at: capture.at, status: capture.status, mime, digest };
}
