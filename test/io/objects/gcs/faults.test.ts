// Does each failure of Cloud Storage become one line that names what and says what to do?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type FaultKind, faultOf, heals, lateError, storeErrorOf } from "../../../../io/objects/gcs/faults.ts";
import { StoreError } from "../../../../ports/versioned-table.ts";

const withReason = (code: number, reason: string, message = "no") => ({ code, message, errors: [{ reason }] });

const cases: { name: string; error: unknown; kind: FaultKind; heals: boolean }[] = [
  {
    name: "no credentials",
    error: new Error("Could not load the default credentials. Browse to …"),
    kind: "credentials",
    heals: false,
  },
  { name: "credentials that ran out", error: { code: 400, message: "invalid_grant" }, kind: "credentials", heals: false },
  {
    name: "no project",
    error: new Error("Unable to detect a Project Id in the current environment."),
    kind: "project",
    heals: false,
  },
  { name: "401", error: { code: 401 }, kind: "credentials", heals: false },
  { name: "403", error: withReason(403, "forbidden"), kind: "permission", heals: false },
  { name: "403 for a rate", error: withReason(403, "rateLimitExceeded"), kind: "quota", heals: true },
  { name: "403 for a user's rate", error: withReason(403, "userRateLimitExceeded"), kind: "quota", heals: true },
  { name: "403 for billing", error: withReason(403, "accountDisabled"), kind: "billing", heals: false },
  {
    name: "404 for a bucket",
    error: withReason(404, "notFound", "The specified bucket does not exist."),
    kind: "bucket",
    heals: false,
  },
  { name: "404", error: withReason(404, "notFound", "No such object: a/b"), kind: "absent", heals: false },
  { name: "412", error: { code: 412 }, kind: "exists", heals: false },
  { name: "412 as text", error: { code: "412" }, kind: "exists", heals: false },
  { name: "429", error: { code: 429 }, kind: "quota", heals: true },
  { name: "500", error: { code: 500 }, kind: "busy", heals: true },
  { name: "503 in an answer", error: { code: "ERR_BAD_RESPONSE", response: { status: 503 } }, kind: "busy", heals: true },
  { name: "503 in a text", error: new Error("Retry limit exceeded - status: 503 - x"), kind: "busy", heals: true },
  {
    name: "damaged bytes",
    error: { code: 400, message: `Provided MD5 hash "a" doesn't match calculated MD5 hash "b".` },
    kind: "damaged",
    heals: true,
  },
  { name: "400", error: { code: 400, message: "Invalid argument." }, kind: "refused", heals: false },
  {
    name: "a refused connection",
    error: Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
    kind: "unreachable",
    heals: true,
  },
  { name: "no answer in time", error: lateError(10), kind: "unreachable", heals: true },
];
for (const { name, error, kind, heals: expected } of cases)
  test(`${name}: ${kind}`, () => {
    assert.equal(faultOf(error), kind);
    assert.equal(heals(error), expected);
    const told = storeErrorOf(error, { verb: "create", bucket: "b", object: "pages/x" });
    assert.equal(told.final, !expected);
    assert.match(told.message, /^cannot create gs:\/\/b\/pages\/x: \S.{10,}$/s);
    assert.ok(!told.message.includes("[object Object]"));
    assert.equal(told.cause, error);
  });

test("a StoreError stays what it is", () => {
  const given = new StoreError("x", { final: true });
  assert.equal(storeErrorOf(given, { verb: "read", bucket: "b" }), given);
  assert.deepEqual([heals(given), heals(new StoreError("y"))], [false, true]);
});

test("whatever is thrown becomes one line", () => {
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      heals(thrown);
      assert.match(storeErrorOf(thrown, { verb: "read", bucket: "b" }).message, /^cannot read gs:/);
    }),
  );
  const long = storeErrorOf(new Error(`first\n${"<html>".repeat(10_000)}`), { verb: "read", bucket: "b" });
  assert.ok(!long.message.includes("\n") && long.message.length < 600);
});
