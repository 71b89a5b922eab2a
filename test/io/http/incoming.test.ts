// A body in crumbs is the same body, and takes no more room than its bytes ask for.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { incoming } from "../../../io/http/incoming.ts";

test("chunks of all sizes come out as they went in, and small ones together", async () => {
  const sizes = fc.array(fc.constantFrom(0, 1, 2, 1023, 1024, 5000), { maxLength: 600 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(600), async (lengths, readAt) => {
      const chunks = lengths.map((length, index) => Buffer.alloc(length, index));
      const body = incoming({ pause() {}, resume() {} });
      const out: Buffer[] = [];
      for (const [index, chunk] of chunks.entries()) {
        body.push(chunk);
        if (index === readAt) out.push(...body.rest());
      }
      body.end();
      for await (const chunk of body.chunks()) out.push(chunk);
      assert.ok(Buffer.concat(out).equals(Buffer.concat(chunks)));
      assert.equal(body.wireBytes(), Buffer.concat(chunks).length);
      const large = lengths.filter((length) => length >= 1024).length;
      assert.ok(out.length <= 2 * large + Math.ceil(lengths.length / 256) + 2, `${out.length} chunks`);
    }),
    { numRuns: 50 },
  );
});

test("a hundred thousand chunks of one byte are held as a few hundred", () => {
  let paused = false;
  const body = incoming({
    pause() {
      paused = true;
    },
    resume() {},
  });
  for (let sent = 0; sent < 100_000; sent++) body.push(Buffer.from("x"));
  assert.equal(paused, false);
  assert.ok(body.rest().length <= 400);
  for (let sent = 0; sent < 300_000; sent++) body.push(Buffer.from("x"));
  assert.equal(paused, true, "the server is made to wait by bytes, not by chunks");
});
