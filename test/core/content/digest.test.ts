// Are digests what other programs compute?
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { contentHash, digestNumber, linkSetHash } from "../../../core/content/digest.ts";

test("a body is known by the first 160 bits of its SHA-256, of nothing the well-known ones", () => {
  assert.equal(Buffer.from(contentHash(new Uint8Array())).toString("hex"), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4");
});

test("links are hashed as a set of eight bytes", () => {
  const hash = linkSetHash(["http://h/a", "http://h/b"]);
  assert.equal(hash.length, 8);
  assert.deepEqual(linkSetHash(["http://h/b", "http://h/a", "http://h/b"]), hash);
  assert.notDeepEqual(linkSetHash(["http://h/a"]), hash);
});

test("a text's number is the first 48 bits of its SHA-256, leading zeros too", () => {
  for (let number = 0; number < 500; number++) {
    const digest = createHash("sha256").update(`text ${number}`).digest();
    assert.equal(digestNumber(`text ${number}`), digest.readUIntBE(0, 6));
  }
});
