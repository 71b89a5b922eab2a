// Does lastmod name the instant that its writer meant, and nothing where it names none? The W3C's profile of ISO 8601.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseW3cDate } from "../../../core/sitemap/w3c-date.ts";

test("each precision of the W3C's profile names its first instant", () => {
  const rows: [string, number][] = [
    ["2027", Date.UTC(2027, 0, 1)],
    ["2027-03", Date.UTC(2027, 2, 1)],
    ["2027-03-04", Date.UTC(2027, 2, 4)],
    ["2027-03-04T05:06Z", Date.UTC(2027, 2, 4, 5, 6)],
    ["2027-03-04T05:06:07-08:30", Date.UTC(2027, 2, 4, 13, 36, 7)],
    ["2027-03-04T05:06:07.089+01:00", Date.UTC(2027, 2, 4, 4, 6, 7, 89)],
    [" 2027-03-04T05:06:07.9876543Z\n", Date.UTC(2027, 2, 4, 5, 6, 7, 987)],
    ["2027-03-04 05:06:07", Date.UTC(2027, 2, 4, 5, 6, 7)],
    ["2028-02-29", Date.UTC(2028, 1, 29)],
  ];
  for (const [value, expected] of rows) assert.equal(parseW3cDate(value), expected, value);
});

test("what names no day of the web's time is no date", () => {
  const wrong = [
    "",
    "yesterday",
    "2027-13",
    "2027-00-01",
    "2027-02-29",
    "2027-3-4",
    "27-03-04",
    "2027-03-04T24:00Z",
    "2027-03-04T05:60Z",
  ];
  const odd = ["1969-12-31", "0099-01-01", "2027-03-04T05:06+25:00", "2027-03-04Z", "2027-03-04T", "٢٠٢٧"];
  for (const value of [...wrong, ...odd]) assert.equal(parseW3cDate(value), undefined, value);
});

test("what JavaScript writes reads back", () => {
  const instants = fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
  fc.assert(fc.property(instants, (date) => parseW3cDate(date.toISOString()) === date.getTime()));
});

test("no text makes it throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => (parseW3cDate(text) ?? 0) >= 0));
});
