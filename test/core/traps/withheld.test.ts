import assert from "node:assert/strict";
import { test } from "node:test";
import { owesParse } from "../../../core/frontier/complete.ts";
import { withheld } from "../../../core/traps/withheld.ts";
import { url, visited } from "../frontier/given.ts";

const SIM_HASH = "0123456789abcdef";

test("a page that was never parsed is no page: no mark, no document, no links that were published, and the reason", () => {
  const { linkSetHash: _, ...first } = visited({ marks: { reparse: true }, lastReason: "parse-busy", indexed: false });
  const { marks, lastReason, simHash, ...expected } = first;
  const after = withheld(first, "soft-404", SIM_HASH);
  assert.deepEqual(after, { ...expected, lastReason: "soft-404", simHash: Buffer.from(SIM_HASH, "hex") });
  assert.equal(owesParse(after), false);
});

test("a page that the index has is taken out of it, and keeps the links that were once published", () => {
  const before = visited({ marks: { parseFailed: true }, lastReason: "parse-timeout" });
  const after = withheld(before, "soft-404", SIM_HASH);
  assert.deepEqual(
    [after.marks, after.docVersion, after.indexed, after.linkSetHash, after.lastReason],
    [{ index: "delete" }, before.docVersion + 1, false, before.linkSetHash, "soft-404"],
  );
});

test("the reason of a later attempt stands", () => {
  const before = url({ marks: { reparse: true }, lastOutcome: "failed", lastReason: "timeout" });
  assert.equal(withheld(before, "soft-404", SIM_HASH).lastReason, "timeout");
});
