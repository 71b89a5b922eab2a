// Do the records of an exchange say what happened, and can a reader rely on their lengths and digests?
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { type Capture, captureRecords } from "../../../core/warc/capture.ts";
import { headerOf, parseWarcRecord, type WarcRecord } from "../../../core/warc/read.ts";
import { type Header, labelledDigest } from "../../../core/warc/record.ts";
import type { ArchiveRecord } from "../../../ports/archive.ts";
import { sampleCapture } from "./sample.ts";

function read(record: ArchiveRecord): WarcRecord {
  const parsed = parseWarcRecord(Buffer.concat(record.bytes));
  assert.ok(parsed.ok, "the record does not parse");
  return parsed;
}

function exchange(changes: Partial<Capture> = {}): {
  request: WarcRecord;
  response: WarcRecord;
  index: ArchiveRecord["index"];
} {
  const records: readonly ArchiveRecord[] = captureRecords(sampleCapture(changes)); // assignable to the port's type
  const [request, response] = records;
  return { request: read(request!), response: read(response!), index: response!.index };
}

const warc = (record: WarcRecord, name: string) => headerOf(record.headers, name);

test("a plain exchange becomes a request and a response, concurrent to each other", () => {
  const { request, response, index } = exchange();
  assert.equal(request.type, "request");
  assert.equal(response.type, "response");
  assert.equal(request.http?.startLine, "GET /a?b=1 HTTP/1.1");
  assert.equal(warc(request, "WARC-Concurrent-To"), warc(response, "WARC-Record-ID"));
  assert.equal(warc(response, "WARC-Concurrent-To"), warc(request, "WARC-Record-ID"));
  assert.equal(warc(response, "WARC-Record-ID"), "<urn:uuid:0b0f3a5c-1111-4222-8333-444455556666>");
  assert.equal(warc(response, "WARC-Date"), "2024-02-29T23:59:58.007Z");
  assert.equal(warc(response, "WARC-Target-URI"), "http://example.com/a?b=1");
  assert.equal(warc(response, "WARC-IP-Address"), "192.0.2.1");
  assert.equal(response.http?.startLine, "HTTP/1.1 200 OK");
  assert.equal(Buffer.from(response.http!.body).toString(), "hello");
  // sha1("hello") in base32, computed with Python's hashlib and base64
  const digest = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N";
  assert.equal(warc(response, "WARC-Payload-Digest"), digest);
  assert.deepEqual(index, { url: "http://example.com/a?b=1", at: sampleCapture().at, status: 200, mime: "text/html", digest });
});

test("a record id is also made of 128 bits of base64url", () => {
  const { response } = exchange({ id: "AAAAAAAAAAAAAAAAAAAAAA" });
  assert.equal(warc(response, "WARC-Record-ID"), "<urn:uuid:00000000-0000-4000-8000-000000000000>");
});

const headerCases: { name: string; headers: Header[]; body: string; want: Header[] }[] = [
  {
    name: "content and transfer codings that were undone",
    headers: [
      ["content-encoding", "gzip"],
      ["Transfer-Encoding", "chunked"],
      ["X-A", "1"],
    ],
    body: "decoded",
    want: [
      ["X-Archive-Orig-content-encoding", "gzip"],
      ["X-Archive-Orig-Transfer-Encoding", "chunked"],
      ["X-A", "1"],
      ["Content-Length", "7"],
    ],
  },
  {
    name: "a length of the encoded body",
    headers: [["Content-Length", "999"]],
    body: "decoded",
    want: [
      ["X-Archive-Orig-Content-Length", "999"],
      ["Content-Length", "7"],
    ],
  },
  { name: "a length that holds", headers: [["content-length", "7"]], body: "decoded", want: [["content-length", "7"]] },
  {
    name: "two lengths",
    headers: [
      ["Content-Length", "7"],
      ["Content-Length", "7"],
    ],
    body: "decoded",
    want: [
      ["X-Archive-Orig-Content-Length", "7"],
      ["X-Archive-Orig-Content-Length", "7"],
      ["Content-Length", "7"],
    ],
  },
  { name: "no length and no body", headers: [], body: "", want: [["Content-Length", "0"]] },
  {
    name: "HTTP/2 pseudo-headers",
    headers: [
      [":status", "200"],
      ["content-length", "0"],
    ],
    body: "",
    want: [["content-length", "0"]],
  },
  {
    name: "line ends and NUL in names and values",
    headers: [
      ["X-A\r\nEvil", "1\r\n\r\nX-B: 2\0"],
      ["", " \t"],
      ["Content-Length", "0"],
    ],
    body: "",
    want: [
      ["X-A__Evil", "1    X-B: 2"],
      ["_", ""],
      ["Content-Length", "0"],
    ],
  },
  {
    name: "bytes beyond ASCII",
    headers: [
      ["X-A", "caf\xe9"],
      ["content-length", "0"],
    ],
    body: "",
    want: [
      ["X-A", "caf\xe9"],
      ["content-length", "0"],
    ],
  },
  {
    name: "characters that are no bytes: kept as UTF-8",
    headers: [
      ["X-A", "\u20ac"],
      ["content-length", "0"],
    ],
    body: "",
    want: [
      ["X-A", "\xe2\x82\xac"],
      ["content-length", "0"],
    ],
  },
];

for (const { name, headers, body, want } of headerCases)
  test(`response headers: ${name}`, () => {
    assert.deepEqual(exchange({ headers, body: Buffer.from(body) }).response.http?.headers, want);
  });

test("HTTP/2 is written as HTTP/1.1 with a Host header, HTTP/1.0 stays", () => {
  const requestHeaders: Header[] = [
    [":authority", "example.com"],
    [":path", "/a"],
    ["accept", "*/*"],
  ];
  const two = exchange({ httpVersion: "2", statusText: "", requestHeaders });
  assert.equal(two.response.http?.startLine, "HTTP/1.1 200");
  assert.equal(two.response.http?.status, 200);
  assert.deepEqual(two.request.http?.headers, [
    ["Host", "example.com"],
    ["accept", "*/*"],
  ]);
  assert.equal(exchange({ httpVersion: "1.0" }).response.http?.startLine, "HTTP/1.0 200 OK");
});

test("the same bytes again: a revisit with the HTTP headers, the payload's digest, and no payload", () => {
  const original = { url: "http://example.com/first", at: Date.UTC(2024, 0, 1), profile: "identical-payload-digest" } as const;
  const { response, index } = exchange({ revisitOf: original });
  assert.equal(response.type, "revisit");
  assert.equal(warc(response, "WARC-Profile"), "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
  assert.equal(warc(response, "WARC-Refers-To-Target-URI"), "http://example.com/first");
  assert.equal(warc(response, "WARC-Refers-To-Date"), "2024-01-01T00:00:00.000Z");
  assert.equal(warc(response, "WARC-Payload-Digest"), labelledDigest([Buffer.from("hello")]));
  assert.equal(headerOf(response.http!.headers, "Content-Length"), "5");
  assert.equal(response.http!.body.length, 0);
  assert.equal(index?.mime, "warc/revisit");
});

test("a 304: a revisit of the server-not-modified profile that claims no digest", () => {
  const original = { url: "http://example.com/a?b=1", at: Date.UTC(2024, 0, 1), profile: "server-not-modified" } as const;
  const headers: Header[] = [
    ["ETag", '"x"'],
    ["Content-Encoding", "gzip"],
    ["Content-Length", "999"],
  ];
  const { response, index } = exchange({
    status: 304,
    statusText: "Not Modified",
    headers,
    body: new Uint8Array(),
    revisitOf: original,
  });
  assert.equal(warc(response, "WARC-Profile"), "http://netpreserve.org/warc/1.1/revisit/server-not-modified");
  assert.equal(warc(response, "WARC-Payload-Digest"), undefined);
  assert.deepEqual(response.http?.headers, [
    ["ETag", '"x"'],
    ["X-Archive-Orig-Content-Encoding", "gzip"],
    ["X-Archive-Orig-Content-Length", "999"],
  ]);
  assert.deepEqual({ status: index?.status, digest: index?.digest }, { status: 304, digest: "-" });
});

test("a 304 carries the digest of the payload it vouches for, where that is known (C9)", () => {
  const digest = labelledDigest([Buffer.from("the payload")]);
  const original = { url: "http://example.com/", at: 0, profile: "server-not-modified", digest } as const;
  const { response, index } = exchange({ status: 304, headers: [], body: new Uint8Array(), revisitOf: original });
  assert.equal(warc(response, "WARC-Payload-Digest"), digest);
  assert.equal(index?.digest, digest);
  assert.equal(response.http?.body.length, 0);
});

test("a body that is not whole says why", () => {
  assert.equal(warc(exchange({ truncated: "length" }).response, "WARC-Truncated"), "length");
});

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom("\r\n\r\n", "a\r\nWARC-Type: x", "\0", "x:\n y", "\x85"),
);
const anyHeaders = fc.array(fc.tuple(anyText, anyText), { maxLength: 6 });

test("law: whatever the server and the URL contain, lengths and digests hold and no header is added", () => {
  fc.assert(
    fc.property(anyHeaders, anyText, anyText, fc.uint8Array({ maxLength: 200 }), (headers, statusText, url, body) => {
      const { request, response } = exchange({ headers, statusText, url, body, requestHeaders: headers });
      for (const record of [request, response]) {
        assert.equal(warc(record, "WARC-Block-Digest"), labelledDigest([record.block]));
        assert.deepEqual(
          record.headers.map(([name]) => name).filter((name, index, all) => all.indexOf(name) !== index),
          [],
        );
      }
      assert.deepEqual(Buffer.from(response.http!.body), Buffer.from(body));
      assert.equal(response.http!.status, 200);
      const sent = headers.filter(([name]) => !name.startsWith(":")).length;
      const added = response.http!.headers.length - sent;
      assert.ok(added === 0 || added === 1, `${added} headers more than the server sent`);
    }),
    { numRuns: 300 },
  );
});

test("law: header values of single bytes come back as they were", () => {
  const value = fc.string({
    unit: fc
      .integer({ min: 0x21, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
  });
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), (values) => {
      const { response } = exchange({ headers: values.map((each): Header => ["X-A", each]) });
      // trim() also takes U+00A0 from the ends, which no server means
      assert.deepEqual(
        response.http!.headers.filter(([name]) => name === "X-A").map(([, each]) => each),
        values.map((each) => each.trim()),
      );
    }),
  );
});

test("the digest is that of node:crypto in base32", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      let number = BigInt(`0x${createHash("sha1").update(bytes).digest("hex")}`);
      let text = "";
      for (let digit = 0; digit < 32; digit++, number >>= 5n) text = letters[Number(number & 31n)] + text;
      assert.equal(labelledDigest([bytes.subarray(0, 3), bytes.subarray(3)]), `sha1:${text}`);
    }),
  );
});
