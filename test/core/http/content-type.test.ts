// Is a body read as what it says it is, and left alone where we do not read it?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bodyClass, parseContentType } from "../../../core/http/content-type.ts";
import { sharedCases, tally } from "../robots/shared-data.ts";

const headers: [header: string, type: string, charset?: string][] = [
  ["text/html; charset=ISO-8859-4", "text/html", "ISO-8859-4"],
  ['TEXT/HTML;Charset="utf-8" ; x=y', "text/html", "utf-8"],
  ['text/html; x="a;charset=no\\""; charset=yes', "text/html", "yes"],
  ["text/html;charset=utf-8, text/html", "text/html", "utf-8"],
  ["text/html;charset=a, text/plain", "text/plain"],
  ["text/html, nonsense", "text/html"],
  ["text/html; charset = utf-8", "text/html"],
  ["", ""],
  ["html", ""],
  ["*/*", ""],
];

for (const [header, type, charset] of headers)
  test(`'${header}' is ${type === "" ? "nothing" : type}${charset === undefined ? "" : ` in ${charset}`}`, () => {
    assert.deepEqual(parseContentType(header), charset === undefined ? { type } : { type, charset });
  });

const classes: [type: string, url: string, accept: string[], expected: string | undefined][] = [
  ["", "http://h/", [], "html"],
  ["text/html", "http://h/", [], "html"],
  ["application/xhtml+xml", "http://h/", [], "html"],
  ["text/plain", "http://h/robots.txt", [], "text"],
  ["application/xml", "http://h/", [], "xml"],
  ["application/rss+xml", "http://h/", [], "feed"],
  ["application/atom+xml", "http://h/", [], "feed"],
  ["application/x-gzip", "http://h/sitemap.xml.gz?a=b", [], "xml"],
  ["application/x-gzip", "http://h/a.tar.gz", [], undefined],
  ["application/gzip", "http://h/a?f=.xml.gz", [], undefined],
  ["image/png", "http://h/", [], undefined],
  ["image/png", "http://h/", ["IMAGE/*"], "other-accepted"],
  ["image/png", "http://h/", ["application/pdf", "image/jpeg"], undefined],
  ["application/pdf", "http://h/", ["*/*"], "other-accepted"],
  ["imagex/png", "http://h/", ["image/*"], undefined],
];

for (const [type, url, accept, expected] of classes)
  test(`'${type}' at ${url} with [${accept}] is ${expected ?? "not read"}`, () => {
    assert.equal(bodyClass(type, url, accept), expected);
  });

test("law: no header makes the parser throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (header) => typeof parseContentType(header).type === "string"));
});

test("yardstick: types and encodings of the MIME Sniffing standard", (t) => {
  const cases = sharedCases<{ input: string; output: string | null; encoding?: string | null }>(t, "mimetype-parse.json");
  tally(t, cases, ({ input, output, encoding }) => {
    const { type, charset } = parseContentType(input);
    const readable = charset === undefined ? undefined : encodingOf(charset);
    return type === (output ?? "").split(";")[0] && (!encoding || readable === encodingOf(encoding));
  });
});

function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

test("yardstick: charsets as w3lib reads headers, but for what the standard forgives", (t) => {
  const cases = sharedCases<{ op: string; input: string; expected: string | null }>(t, "charset-w3lib.json").filter(
    ({ op, input }) => op === "http_content_type_encoding" && input.includes("/"),
  );
  const known = {
    'text/html; charset="utf-8': "a missing quote at the end is forgiven",
    'text/html; charset="utf-8"x': "what follows a quoted value is ignored",
    'text/html; charset="utf-8"extra': "what follows a quoted value is ignored",
    'text/html; foo="bar; charset=utf-7;"; charset=""; charset=utf-8': "the first charset counts, even an empty one",
    "text/html; charset=utf-8, text/plain; charset=utf-16": "the last of several types counts",
  };
  const passes = ({ input, expected }: { input: string; expected: string | null }) => {
    const { charset } = parseContentType(input.replace(/^Content-Type:/, "").trim());
    const found = charset === undefined ? undefined : encodingOf(charset);
    return found === (expected === null ? undefined : expected.replace("iso8859", "iso-8859"));
  };
  tally(t, cases, passes, known, ({ input }) => input);
});
