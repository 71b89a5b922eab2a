// Do the three forms of an HTTP date read alike, whatever the process's time zone, and nothing else? RFC 9110 5.6.7.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { parseHttpDate } from "../../../core/http/http-date.ts";

const NEW_YEAR = Date.UTC(2031, 0, 1, 6, 7, 8);

test("all three forms name the same instant", () => {
  for (const value of ["Wed, 01 Jan 2031 06:07:08 GMT", "Wednesday, 01-Jan-31 06:07:08 GMT", "Wed Jan  1 06:07:08 2031"]) {
    assert.equal(parseHttpDate(value), NEW_YEAR, value);
  }
});

test("a two-digit year more than fifty years ahead of now is of the past century", () => {
  const now = Date.UTC(2026, 5, 1);
  const rows: [string, number][] = [
    ["Monday, 01-Jun-76 00:00:00 GMT", 2076],
    ["Tuesday, 02-Jun-76 00:00:00 GMT", 1976],
    ["Friday, 01-Jan-99 00:00:00 GMT", 1999],
    ["Friday, 01-Jan-25 00:00:00 GMT", 2025],
  ];
  for (const [value, year] of rows) assert.equal(new Date(parseHttpDate(value, now)!).getUTCFullYear(), year, value);
  const late = Date.UTC(2090, 0, 1);
  assert.equal(new Date(parseHttpDate("Friday, 01-Jan-05 00:00:00 GMT", late)!).getUTCFullYear(), 2105);
});

test("days, hours and names that do not exist are no date", () => {
  const wrong = ["Mon, 31 Apr 2028 00:00:00 GMT", "Tue, 29 Feb 2027 00:00:00 GMT", "Tue, 00 Jan 2027 00:00:00 GMT"];
  const odd = [
    "Tue, 05 Foo 2027 00:00:00 GMT",
    "Tue, 05 Jan 2027 24:00:00 GMT",
    "Tue, 05 Jan 2027 00:00:00 CET",
    `${" ".repeat(99)}x`,
  ];
  for (const value of [...wrong, ...odd]) assert.equal(parseHttpDate(value), undefined, value);
});

test("29 February of a leap year is a date", () => {
  assert.equal(parseHttpDate("Tue, 29 Feb 2028 00:00:00 GMT"), Date.UTC(2028, 1, 29));
});

test("what toUTCString writes reads back to the second", () => {
  const seconds = fc.integer({ min: -62_167_219_200, max: 253_402_300_799 });
  fc.assert(fc.property(seconds, (at) => parseHttpDate(new Date(at * 1000).toUTCString()) === at * 1000));
});

test("no text makes it throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.double(), (value, now) => void parseHttpDate(value, now)));
});

test("the time zone of the process changes nothing", () => {
  const file = new URL("../../../core/http/http-date.ts", import.meta.url).href;
  const script = `import(${JSON.stringify(file)}).then((m) => console.log(m.parseHttpDate("Wed Jan  1 06:07:08 2031")))`;
  const env = { ...process.env, TZ: "America/New_York" };
  assert.equal(Number(execFileSync(process.execPath, ["-e", script], { env, encoding: "utf8" })), NEW_YEAR);
});
