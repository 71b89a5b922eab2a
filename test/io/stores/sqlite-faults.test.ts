import assert from "node:assert/strict";
import { test } from "node:test";
import { troubleOf } from "../../../io/stores/sqlite-faults.ts";
import { StoreError } from "../../../ports/versioned-table.ts";

const sqlite = (errcode: number): Error => Object.assign(new Error("as SQLite says it"), { code: "ERR_SQLITE_ERROR", errcode });
const system = (code: string): Error => Object.assign(new Error("as the system says it"), { code });

const cases: [situation: string, error: unknown, reach: "store" | "request", final: boolean, says: RegExp][] = [
  ["disk full", sqlite(13), "store", true, /no space is left on the disk of \/data: free some/],
  ["disk full, from the system", system("ENOSPC"), "store", true, /no space is left/],
  ["read-only", sqlite(8), "store", true, /cannot be written/],
  ["read-only directory", sqlite(8 | (6 << 8)), "store", true, /cannot be written/],
  ["no permission", system("EACCES"), "store", true, /cannot be written/],
  ["cannot open", sqlite(14), "store", true, /cannot be written/],
  ["damaged", sqlite(11), "store", true, /\/data\/state.sqlite is damaged: restore it/],
  ["damaged index", sqlite(11 | (3 << 8)), "store", true, /damaged/],
  ["not a database", sqlite(26), "store", true, /not a database of this program: move it away/],
  ["failed sync", sqlite(10 | (4 << 8)), "store", true, /the disk of \/data fails/],
  ["locked", sqlite(5), "store", false, /kept locked by another program/],
  ["no memory", sqlite(7), "store", false, /no memory is left/],
  ["a file at its limit of size", system("EFBIG"), "store", true, /no space is left/],
  ["no file handle", system("EMFILE"), "store", true, /no file handles are left for \/data: raise ulimit -n/],
  ["tables of another shape", sqlite(1), "store", true, /damaged/],
  ["constraint", sqlite(19), "request", false, /refused a request: as SQLite says it, SQLite code 19/],
  ["value too large", sqlite(18), "request", false, /refused a request/],
  ["bad argument", system("ERR_INVALID_ARG_TYPE"), "request", false, /refused a request/],
  ["no error object", "a text", "request", false, /refused a request: a text/],
  ["no object at all", undefined, "request", false, /refused a request: undefined/],
];

for (const [situation, error, reach, final, says] of cases) {
  test(`${situation}: ${reach === "store" ? "the commit is lost" : "only the request fails"}, ${final ? "for good" : "for now"}`, () => {
    const trouble = troubleOf(error, "/data");
    assert.equal(trouble.reach, reach);
    assert.equal(trouble.error.final, final);
    assert.equal(trouble.error.cause, error);
    assert.match(trouble.error.message, says);
  });
}

test("a StoreError stays what it is", () => {
  const error = new StoreError("as it was", { final: true });
  assert.equal(troubleOf(error, "/data").error, error);
});
