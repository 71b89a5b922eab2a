import assert from "node:assert/strict";
import { test } from "node:test";
import { earlierDays, LATE_DAYS, manifestPath, nameIn, pathOf } from "../../../core/partitions/partition-files.ts";

test("a week is looked back, over the end of a month, the nearest day first", () => {
  const days = earlierDays("2026-03-02");
  assert.equal(days.length, LATE_DAYS);
  assert.deepEqual([days[0], days[1], days[6]], ["2026-03-01", "2026-02-28", "2026-02-23"]);
});

test("names in a manifest lead to their paths and back, also into another day's folder", () => {
  for (const path of ["pages/dt=2026-03-02/segment-a.warc.gz", "pages/dt=2026-02-28/segment-b.cdxj"])
    assert.equal(pathOf("pages", "2026-03-02", nameIn("pages", "2026-03-02", path)), path);
  assert.equal(nameIn("pages", "2026-03-02", "pages/dt=2026-02-28/segment-b.cdxj"), "../dt=2026-02-28/segment-b.cdxj");
  assert.equal(manifestPath("pages", "2026-03-02"), "pages/dt=2026-03-02/manifest.json");
});
