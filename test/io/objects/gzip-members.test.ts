// Are members told apart from each other and from damage, at any place and size?
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { gunzipMember, gzipMember, memberAt, wholeMembers } from "../../../io/objects/gzip-members.ts";
import { powerCutFiles } from "./power-cut-files.ts";

async function filed(bytes: Uint8Array) {
  const files = powerCutFiles();
  await files.makeFolder("/d");
  await (await files.create("/d/f")).write([bytes], 0);
  return files;
}

async function walk(bytes: Uint8Array): Promise<{ offset: number; length: number; bytes: Uint8Array }[]> {
  const files = await filed(bytes);
  const members = [];
  for await (const member of wholeMembers(files, "/d/f", 0)) members.push(member);
  return members;
}

test("law: any piece comes back, packed inline or in the pool", async () => {
  for (const size of [0, 1, 29_000, 300_000]) {
    const piece = Buffer.alloc(size, "some text ");
    const member = await gzipMember([piece.subarray(0, 5), piece.subarray(5)], 3);
    assert.deepEqual(gunzipSync(member), piece);
    assert.deepEqual(Buffer.from(await gunzipMember(member)), piece);
  }
});

test("law: of members and then a cut one, the walk gives exactly the whole ones", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 50 }), { minLength: 1, maxLength: 5 }),
      fc.nat(),
      async (pieces, cut) => {
        const members = pieces.map((piece) => gzipSync(piece));
        const last = members.at(-1)!;
        const found = await walk(Buffer.concat([...members.slice(0, -1), last.subarray(0, cut % last.length)]));
        assert.deepEqual(
          found.map(({ bytes }) => Buffer.from(bytes)),
          pieces.slice(0, -1).map((piece) => Buffer.from(piece)),
        );
      },
    ),
  );
});

test("law: a flipped bit ends the walk or leaves the content as it was, and never throws", async () => {
  const pieces = ["one", "two"].map((text) => Buffer.from(text.repeat(20)));
  const bytes = Buffer.concat(pieces.map((piece) => gzipSync(piece)));
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = Buffer.from(bytes);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    for (const [index, member] of (await walk(damaged)).entries()) assert.deepEqual(Buffer.from(member.bytes), pieces[index]);
  }
});

test("a member longer than the window is found whole, and those after it", async () => {
  const large = Buffer.from(Array.from({ length: 5 * 1024 * 1024 }, (_, index) => (index * 2654435761) >>> 13));
  const members = [gzipSync("a"), gzipSync(large, { level: 0 }), gzipSync("b")];
  const found = await walk(Buffer.concat(members));
  assert.deepEqual(
    found.map(({ length }) => length),
    members.map(({ length }) => length),
  );
});

test("headers of other writers are read: name, comment, extra fields, header checksum", () => {
  const plain = gzipSync("text");
  const header = Buffer.from([0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3]);
  const extras = Buffer.from("\x03\0xyzname\0comment\0\x01\x02", "latin1");
  const member = memberAt(Buffer.concat([header, extras, plain.subarray(10)]));
  assert.ok(typeof member !== "string");
  assert.equal(Buffer.from(member.bytes).toString(), "text");
  for (let end = 0; end < header.length + extras.length; end++)
    assert.equal(memberAt(Buffer.concat([header, extras]).subarray(0, end)), "short");
});
