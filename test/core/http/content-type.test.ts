// Is a body read as what it says it is, and left alone where we do not read it?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bodyClass, parseContentType } from "../../../core/http/content-type.ts";

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
  ["unknown/unknown", "http://h/", [], "html"],
  ["application/unknown", "http://h/", [], "html"],
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
