import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { packed } from "../../../core/frontier/pack.ts";
import { encode } from "../../../schemas/codec.ts";
import { limits } from "../../../schemas/limits.ts";
import { type DiscoverMessage, discoverMessage } from "../../../schemas/messages.ts";

const message = (urls: string[]): DiscoverMessage => ({
  source: "link",
  from: "http://example.org/",
  depth: 1,
  hops: 0,
  kind: "page",
  urls,
});
const counts = (urls: string[]) => packed(message(urls)).map((part) => part.urls.length);

test("nothing to say is no message", () => {
  assert.deepEqual(packed(message([])), []);
});

test("a thousand URLs are one message, one more begins the next", () => {
  const urls = (count: number) => Array.from({ length: count }, (_, index) => `http://example.org/${index}`);
  assert.deepEqual(counts(urls(1_000)), [1_000]);
  assert.deepEqual(counts(urls(2_001)), [1_000, 1_000, 1]);
});

test("bytes count, not characters", () => {
  assert.deepEqual(counts(Array.from({ length: 200 }, () => "a".repeat(2_046))), [128, 72]);
  assert.deepEqual(counts(Array.from({ length: 200 }, () => "\u00e9".repeat(1_023))), [128, 72]);
});

test("every URL travels once, in order, with what the message says, each message within its limits", () => {
  const urls = fc.array(
    fc.tuple(fc.nat(2_000), fc.nat(400)).map(([length, times]) => Array.from({ length: times }, () => "u".repeat(length))),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(urls, (given) => {
      const whole = message(given.flat());
      const parts = packed(whole);
      assert.deepEqual(
        parts.flatMap((part) => part.urls),
        whole.urls,
      );
      for (const part of parts) {
        assert.deepEqual({ ...part, urls: [] }, { ...whole, urls: [] });
        assert.ok(part.urls.length > 0 && part.urls.length <= limits.discoverUrls);
        assert.ok(encode(discoverMessage, part).length <= limits.discoverBytes + 64);
      }
    }),
    { numRuns: 40 },
  );
});

test("a single URL beyond the limit still travels, alone", () => {
  const huge = "a".repeat(limits.discoverBytes + 1);
  assert.deepEqual(counts(["b", huge, "c"]), [1, 1, 1]);
});
