// Is a wait that a server asks for kept, and nothing else taken for one? RFC 9110 10.2.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { retryAfterMs } from "../../../core/http/retry-after.ts";
import { limits } from "../../../schemas/limits.ts";

const NOW = Date.UTC(2027, 2, 4, 10, 0, 0);

test("a date ninety seconds ahead is ninety seconds, in every form (P13)", () => {
  for (const value of ["Thu, 04 Mar 2027 10:01:30 GMT", "Thursday, 04-Mar-27 10:01:30 GMT", "Thu Mar  4 10:01:30 2027"]) {
    assert.equal(retryAfterMs(value, NOW), 90_000, value);
  }
});

test("seconds are seconds, blanks around them nothing", () => {
  assert.equal(retryAfterMs("7", NOW), 7000);
  assert.equal(retryAfterMs(" \t7 ", NOW), 7000);
});

test("what asks for no wait leaves the back-off to the caller (P13, P15)", () => {
  const none = [undefined, "", "  ", "0", "000", "-5", "soon", "1.5", "5s", "5, 6", "٣", "Thu, 04 Mar 2027 10:00:00 GMT"];
  for (const value of [...none, "Thu, 04 Mar 2027 09:59:59 GMT"]) assert.equal(retryAfterMs(value, NOW), undefined, value);
});

test("a wait beyond the limit is the limit, however many digits it has", () => {
  const cap = limits.retryAfterMsMax;
  for (const value of [`${cap / 1000 + 1}`, "9".repeat(400), "Fri, 04 Mar 2999 10:00:00 GMT"])
    assert.equal(retryAfterMs(value, NOW), cap, value);
  assert.equal(retryAfterMs(`${cap / 1000}`, NOW), cap);
});

test("whatever the value, the wait is absent or within the limit", () => {
  const values = fc.oneof(
    fc.string(),
    fc.bigInt().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  fc.assert(
    fc.property(values, (value) => {
      const wait = retryAfterMs(value, NOW);
      assert.ok(wait === undefined || (wait > 0 && wait <= limits.retryAfterMsMax));
    }),
  );
});
