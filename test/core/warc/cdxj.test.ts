// Do index lines read as pywb and cdxj-indexer expect, and can they be made anew from the records?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { captureRecords } from "../../../core/warc/capture.ts";
import { cdxjLine, cdxjPlace, fieldsOf } from "../../../core/warc/cdxj.ts";
import { parseWarcRecord } from "../../../core/warc/read.ts";
import type { Header } from "../../../core/warc/record.ts";
import { sampleCapture } from "./sample.ts";

const fields = {
  url: "http://www.example.com/A?b=2&a=1",
  at: Date.UTC(2024, 1, 29, 23, 59, 58, 999),
  status: 200,
  mime: "text/html",
  digest: "sha1:X",
};
const place = { segment: "segment-1.warc.gz", offset: 512, length: 77 };

test("a line is key, time to the second, and JSON whose numbers are text", () => {
  assert.equal(
    cdxjLine(fields, place),
    'com,example)/a?a=1&b=2 20240229235958 {"url":"http://www.example.com/A?b=2&a=1","mime":"text/html","status":"200","digest":"sha1:X","length":"77","offset":"512","filename":"segment-1.warc.gz"}\n',
  );
});

test("a line gives its place back, cut or foreign text gives none", () => {
  const line = cdxjLine(fields, place).trimEnd();
  assert.deepEqual(cdxjPlace(line), place);
  for (let end = 0; end < line.length; end++) assert.equal(cdxjPlace(line.slice(0, end)), undefined);
  for (const text of [
    "",
    "\0\0\0",
    `\0\0${line}`,
    'a 20240229235958 {"offset":"-1","length":"3","filename":"x"}',
    "a 20240229235958 {}",
  ])
    assert.equal(cdxjPlace(text), undefined);
});

const mimes: [header: string | undefined, mime: string][] = [
  ["Text/HTML; charset=x", "text/html"],
  ["text/html\tx", "text/html"],
  [undefined, "unk"],
  ["", "unk"],
  ["caf\xe9/x", "unk"],
  ["a".repeat(300), "unk"],
];
for (const [header, mime] of mimes)
  test(`Content-Type ${header?.slice(0, 20)} is listed as ${mime}`, () => {
    const headers: Header[] = header === undefined ? [] : [["content-type", header]];
    assert.equal(captureRecords(sampleCapture({ headers }))[1].index?.mime, mime);
  });

test("law: what a record says gives the same index fields as its capture, and the request none", () => {
  const header = fc.tuple(fc.constantFrom("Content-Type", "X-A"), fc.string({ unit: "binary", maxLength: 20 }));
  const profile = fc.constantFrom("identical-payload-digest" as const, "server-not-modified" as const, undefined);
  fc.assert(
    fc.property(fc.array(header), fc.integer({ min: 100, max: 599 }), fc.webUrl(), profile, (headers, status, url, kind) => {
      const revisitOf = kind && { url, at: 1, profile: kind };
      const [request, response] = captureRecords(sampleCapture({ headers, status, url, ...(revisitOf && { revisitOf }) }));
      const stored = [request, response].map(({ bytes }) => parseWarcRecord(Buffer.concat(bytes)));
      assert.deepEqual(
        stored.map((record) => record.ok && fieldsOf(record)),
        [undefined, response.index],
      );
    }),
  );
});
