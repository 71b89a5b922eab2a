// Is a date packed only where its text comes back letter by letter?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { exactSeconds, writtenDate } from "../../schemas/http-date.ts";

const LAST = 253_402_300_799; // the last second of the year 9999

test("every second comes back from its date, which is the one that the runtime writes", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.nat(2 ** 31), fc.integer({ min: 0, max: LAST }), fc.constantFrom(0, LAST, 951_782_400)),
      (seconds) => {
        assert.equal(writtenDate(seconds), new Date(seconds * 1000).toUTCString());
        assert.equal(exactSeconds(writtenDate(seconds)), seconds);
      },
    ),
  );
});

const others = [
  "",
  "Sat, 15 Nov 2025 12:45:26 UTC",
  "Sun, 15 Nov 2025 12:45:26 GMT",
  "Sat, 15 nov 2025 12:45:26 GMT",
  "Sat, 15 Nov 2025 24:45:26 GMT",
  "Sat, 15 Nov 2025 12:60:26 GMT",
  "Sat, 15 Nov 2025 12:45:60 GMT",
  "Sat, 15 Nov 2025 12:45:2x GMT",
  "Sat, 15 Nov 2025 12-45-26 GMT",
  "Sat, 15 Nov 2025-12:45:26 GMT",
  "Sat, 1\u0665 Nov 2025 12:45:26 GMT",
  "Sat, 29 Feb 2025 12:45:26 GMT",
  "Thu, 00 Jan 1970 00:00:00 GMT",
  "Wed, 31 Dec 1969 23:59:59 GMT",
  "Sat, 01 Jan 0070 00:00:00 GMT",
  "Saturday, 15-Nov-25 12:45:26 GMT",
  "Sat Nov 15 12:45:26 2025",
];
for (const text of others)
  test(`'${text}' is no date that seconds are written as`, () => {
    assert.equal(exactSeconds(text), undefined);
  });
