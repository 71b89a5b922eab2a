import assert from "node:assert/strict";
import { test } from "node:test";
import { dayEnd, utcDay } from "../../../pipelines/commands/utc-day.ts";
import { UsageError } from "../../../pipelines/usage-error.ts";

const NOON = Date.parse("2026-03-01T12:00:00Z");

test("without a day it is yesterday, over the end of a month too", () => {
  assert.equal(utcDay("--day", undefined, NOON), "2026-02-28");
  assert.equal(utcDay("--day", "2024-02-29", NOON), "2024-02-29");
});

test("a day ends when the next begins", () => {
  assert.equal(dayEnd("2026-02-28"), Date.parse("2026-03-01T00:00:00Z"));
});

for (const wrong of ["2026-02-30", "2026-13-01", "yesterday", "2026-1-1", "", "1969-12-31"])
  test(`${JSON.stringify(wrong)} is refused with the flag's name`, () => {
    assert.throws(
      () => utcDay("--day", wrong, NOON),
      (error) => error instanceof UsageError && error.message.startsWith("--day"),
    );
  });
