import assert from "node:assert/strict";
import { test } from "node:test";
import { describeAbsent, describeDecoded, httpHead, writableHeaders } from "../../../core/warc/http-head.ts";
import type { Header } from "../../../core/warc/record.ts";

test("a head ends with a blank line, one line a header", () => {
  const head = Buffer.from(
    httpHead("HTTP/1.1 200 OK", [
      ["A", "1"],
      ["B", "\u00e9"],
    ]),
  ).toString("latin1");
  assert.equal(head, "HTTP/1.1 200 OK\r\nA: 1\r\nB: \u00e9\r\n\r\n");
});

test("no name or value ends its line: what cannot stand in a name is replaced, pseudo-headers go", () => {
  const hostile: Header[] = [
    ["x y\r\n", "a\r\nb: c"],
    [":status", "200"],
    ["", "v"],
  ];
  const written = writableHeaders(hostile);
  assert.deepEqual(
    written.map(([name]) => name),
    ["x_y__", "_"],
  );
  assert.ok(written.every(([, value]) => !/[\r\n]/.test(value)));
});

const decoded: [situation: string, headers: Header[], bodyBytes: number, expected: Header[]][] = [
  ["a length that holds stays", [["Content-Length", "5"]], 5, [["Content-Length", "5"]]],
  [
    "one that does not is replaced",
    [["content-length", "9"]],
    5,
    [
      ["X-Archive-Orig-content-length", "9"],
      ["Content-Length", "5"],
    ],
  ],
  [
    "codings are taken off",
    [["Content-Encoding", "gzip"]],
    5,
    [
      ["X-Archive-Orig-Content-Encoding", "gzip"],
      ["Content-Length", "5"],
    ],
  ],
  [
    "two lengths hold for nothing",
    [
      ["Content-Length", "5"],
      ["Content-Length", "5"],
    ],
    5,
    [
      ["X-Archive-Orig-Content-Length", "5"],
      ["X-Archive-Orig-Content-Length", "5"],
      ["Content-Length", "5"],
    ],
  ],
];
for (const [situation, headers, bodyBytes, expected] of decoded)
  test(`a decoded body: ${situation}`, () => assert.deepEqual(describeDecoded(headers, bodyBytes), expected));

test("a 304 names no length and no coding that a reader would look for", () => {
  assert.deepEqual(
    describeAbsent([
      ["Content-Length", "5"],
      ["ETag", "x"],
    ]),
    [
      ["X-Archive-Orig-Content-Length", "5"],
      ["ETag", "x"],
    ],
  );
});
