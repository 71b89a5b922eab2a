// Does pubDate name the instant that its writer meant, and nothing where it names none? RFC 822 5, RSS 2.0.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseRssDate } from "../../../core/sitemap/rss-date.ts";

test("a feed's dates read with either length of year and with the zones of RFC 822", () => {
  const expected = Date.UTC(2027, 2, 4, 5, 6, 7);
  const same = [
    "Thu, 04 Mar 2027 05:06:07 GMT",
    "4 Mar 27 05:06:07 UT",
    "Thu, 4 Mar 2027 00:06:07 EST",
    "04 March 2027 06:36:07 +0130",
  ];
  for (const value of same) assert.equal(parseRssDate(value), expected, value);
  for (const value of [
    "",
    "04 Mar 2027",
    "04 Mar 2027 05:06:07",
    "31 Feb 2027 05:06:07 GMT",
    "04 Mar 2027 05:06:07 XYZ",
    "04 Mar 2027 25:06 GMT",
  ]) {
    assert.equal(parseRssDate(value), undefined, value);
  }
});

test("what JavaScript writes reads back to the second", () => {
  const instants = fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
  fc.assert(fc.property(instants, (date) => parseRssDate(date.toUTCString()) === Math.floor(date.getTime() / 1000) * 1000));
});

test("no text makes it throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => (parseRssDate(text) ?? 0) >= 0));
});
