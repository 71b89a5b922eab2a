// Do other writers' files say to us what they say to warcio, and ours to warcio what they say to us? WARC 1.0 and 1.1 (ISO 28500).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { constants, gunzipSync } from "node:zlib";
import { captureRecords } from "../../core/warc/capture.ts";
import { headerOf, parseWarcRecord, type WarcRecord } from "../../core/warc/read.ts";
import { labelledDigest, warcDate } from "../../core/warc/record.ts";
import { fileArchive } from "../../io/objects/archive-files.ts";
import { realFiles } from "../../io/objects/file-layer.ts";
import { memberAt } from "../../io/objects/gzip-members.ts";
import { sampleCapture } from "../core/warc/sample.ts";
import { givenClock, givenRandom, warcinfo } from "../io/objects/given.ts";
import { pythonWithWarcio } from "../io/objects/warcio.ts";
import { conformance, SHARED_DATA, type SharedData } from "./lib.ts";

interface Expected {
  type: string;
  uri: string | null;
  date: string;
  contentLength: string;
  status?: string;
  digestOk?: boolean;
  payloadBytesDecoded: number;
  payloadSha1: string;
}
interface Sample {
  file: string;
  records: Expected[];
  readerError?: string;
}

conformance({
  name: "WARC files of others, as warcio reads them",
  files: ["warc"],
  cases: 67,
  justified: {
    "example-trunc.warc record 3":
      "WARC 1.1, 4: a record has Content-Length bytes; one that the file's end cuts off is a fault, not a shorter record",
    "example-trunc.warc count": "WARC 1.1, 4: as its record 3",
    "example-wrong-chunks.warc.gz record 0":
      "WARC 1.1, annex D: a record is one member of the gzip file; of this one the first member holds the head alone, which is a fault to us, and to warcio at the next record",
  },
  judge(data, check) {
    for (const { file, records, readerError } of data.json<Sample[]>("warc/index.json")) {
      if (/\.arc(\.gz)?$/.test(file)) continue; // ARC is another format, which we neither write nor read
      const found = recordsOf(data.bytes(`warc/${file}`));
      // Behind a fault warcio gives up; we go on where the next record is whole.
      if (readerError === undefined) check(`${file} count`, found.length, records.length);
      for (const [at, expected] of records.entries()) {
        const record = found[at];
        const got = record === undefined ? undefined : () => read(record, expected, readerError === undefined);
        check(`${file} record ${at}`, got, wanted(expected, readerError === undefined));
      }
    }
  },
});

function recordsOf(bytes: Buffer): WarcRecord[] {
  const pieces: Uint8Array[] = [];
  if (bytes[0] !== 0x1f) pieces.push(bytes);
  for (let at = 0; bytes[0] === 0x1f && at < bytes.length; ) {
    const member = memberAt(bytes.subarray(at));
    if (typeof member === "string") break;
    pieces.push(member.bytes);
    at += member.length;
  }
  const records: WarcRecord[] = [];
  for (const piece of pieces)
    for (let at = 0; at < piece.length; ) {
      const record = parseWarcRecord(piece, at);
      if (!record.ok) break;
      records.push(record);
      at = record.end;
    }
  return records;
}

function wanted(
  { type, uri, date, contentLength, status, digestOk, payloadBytesDecoded, payloadSha1 }: Expected,
  whole: boolean,
) {
  const answer = type === "response" ? Number(status) : undefined;
  const digest = type === "revisit" ? undefined : digestOk;
  const body = whole ? [payloadBytesDecoded, payloadSha1] : [];
  return [type, uri, date, contentLength, answer, digest, ...body];
}

function read(record: WarcRecord, { digestOk }: Expected, whole: boolean) {
  const uri = headerOf(record.headers, "WARC-Target-URI");
  const payload = payloadOf(record);
  return [
    record.type,
    uri?.replace(/^<(.*)>$/, "$1").replaceAll(" ", "%20") ?? null, // as warcio mends them
    headerOf(record.headers, "WARC-Date"),
    headerOf(record.headers, "Content-Length"),
    record.type === "response" ? record.http?.status : undefined,
    record.type === "revisit" || digestOk === undefined ? undefined : digestsHold(record),
    ...(whole ? [payload.length, createHash("sha1").update(payload).digest("hex")] : []),
  ];
}

/** Block and payload digests that are given in SHA-1, in base32, hex, or base64 of either alphabet. */
function digestsHold(record: WarcRecord): boolean {
  const holds = (name: string, bytes: Uint8Array) => {
    const given = headerOf(record.headers, name);
    const sha1 = createHash("sha1").update(bytes).digest();
    const others = (["hex", "base64", "base64url"] as const).map((form) => `sha1:${sha1.toString(form).replace(/=$/, "")}`);
    const forms = [labelledDigest([bytes]), ...others];
    return !given?.startsWith("sha1:") || forms.includes(given.replace(/=$/, ""));
  };
  return holds("WARC-Block-Digest", record.block) && holds("WARC-Payload-Digest", record.http?.body ?? record.block);
}

/** Without its transfer and content coding, which are none of the reader's. */
function payloadOf({ type, block, http }: WarcRecord): Uint8Array {
  if (http === undefined || type === "revisit") return type === "revisit" ? new Uint8Array() : block;
  const coding = (name: string) => headerOf(http.headers, name)?.toLowerCase();
  const body = coding("Transfer-Encoding") === "chunked" ? unchunked(Buffer.from(http.body)) : http.body;
  // The stream of a record that lies about its length may lack its end: what came before it counts.
  return coding("Content-Encoding") === "gzip" ? gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }) : body;
}

/** Some writers kept the header and took the chunks apart: then there are none. */
function unchunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf("\r\n", at);
    const size = Number.parseInt(/^[0-9a-f]+/i.exec(body.toString("latin1", at, lineEnd))?.[0] ?? "", 16);
    if (lineEnd < 0 || Number.isNaN(size)) return body;
    if (size === 0) return Buffer.concat(parts);
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

const reader = `
import hashlib, json, sys
from warcio.archiveiterator import ArchiveIterator
with open(sys.argv[1], "rb") as stream:
    records = ArchiveIterator(stream, check_digests="raise")
    for record in records:
        head = record.rec_headers
        body = record.content_stream().read()
        print(json.dumps([record.rec_type, head["WARC-Target-URI"], head["WARC-Date"], head["WARC-Payload-Digest"], len(body),
            hashlib.sha1(body).hexdigest(), record.digest_checker.passed, records.get_record_offset(), records.get_record_length()]))
`;

const OURS = "our WARC files of real pages, as warcio reads them";
const python = existsSync(SHARED_DATA) ? pythonWithWarcio() : { python: "" };
if ("reason" in python) test(`conformance: ${OURS}`, { skip: python.reason }, () => {});
else
  conformance({
    name: OURS,
    files: ["html"],
    cases: 162,
    async judge(data, check) {
      const folder = mkdtempSync(join(tmpdir(), "gleaner-"));
      try {
        const { segment, expected } = await written(folder, data);
        const out = execFileSync(python.python, ["-c", reader, join(folder, segment)], { encoding: "utf8", timeout: 60_000 });
        const lines = out.trim().split("\n").slice(1); // after warcinfo
        for (const [at, wantedLine] of expected.entries()) check(`record ${at}`, JSON.parse(lines[at] ?? "null"), wantedLine);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  });

/** Every page as a request and a response in one segment, and what a reader must find there. */
async function written(folder: string, data: SharedData): Promise<{ segment: string; expected: unknown[] }> {
  const given = { files: realFiles, clock: givenClock(), random: givenRandom(1), durability: "process", warcinfo } as const;
  const archive = await fileArchive({ folder, ...given });
  const expected: unknown[] = [];
  let segment = "";
  for (const [index, { file, url }] of data.json<{ file: string; url: string }[]>("html/index.json").entries()) {
    const body = data.bytes(`html/${file}`);
    const capture = sampleCapture({ id: `${index}-r`, requestId: `${index}-q`, url, body, at: given.clock.now() + index });
    const [request, response] = await archive.append(captureRecords(capture));
    segment = response!.segment;
    const sha1 = (bytes: Uint8Array) => createHash("sha1").update(bytes).digest("hex");
    const common = [url, warcDate(capture.at)];
    const digest = labelledDigest([body]);
    expected.push(["request", ...common, null, 0, sha1(Buffer.from("")), true, request!.offset, request!.length]);
    expected.push(["response", ...common, digest, body.length, sha1(body), true, response!.offset, response!.length]);
  }
  await archive.close();
  return { segment, expected };
}
