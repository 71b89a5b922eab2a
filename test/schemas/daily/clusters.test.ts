import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CodecError, decode, encode } from "../../../schemas/codec.ts";
import { clusterTable, hashText, isHash } from "../../../schemas/daily/clusters.ts";
import { columnsOf } from "../../../schemas/tables/columns.ts";

test("law: a hash comes back, in eleven bytes at most", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9a-f]{16}$/), (hash) => {
      const bytes = encode(hashText, hash);
      assert.equal(decode(hashText, bytes), hash);
      assert.ok(bytes.length <= 11);
    }),
  );
});

for (const other of ["", "12", "00000000000000AA", "000000000000000g", "00000000000000aa0"])
  test(`'${other}' is no hash`, () => {
    assert.equal(isHash(other), false);
    assert.throws(() => encode(hashText, other), CodecError);
    assert.match(hashText.fault(other, "hash") ?? "", /no SimHash/);
  });

test("each column of the table is told, and nothing else", () => {
  const columns = columnsOf(clusterTable.row.shape, clusterTable.words);
  assert.deepEqual(columns.map(({ name }) => name).sort(), Object.keys(clusterTable.words).sort());
  assert.ok(columns.every(({ description }) => description));
});
