// Is the URL record as small as it must be, and does everything in it come back?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CodecError, decode, encode } from "../../schemas/codec.ts";
import { outcomes } from "../../schemas/reasons.ts";
import { rowKey } from "../../schemas/row-key.ts";
import { type UrlState, urlState } from "../../schemas/url-state.ts";

const PACE_KEY = "www.site-123456.test";
const KEY = rowKey(PACE_KEY, "Abcdefghijk_mnopqrstuQ");
const DAY = 86_400_000;
const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 0, 1);
const bytes = (fill: number, size: number) => new Uint8Array(size).fill(fill);

const discovered: UrlState = {
  canonicalUrl: `https://${PACE_KEY}/`.padEnd(80, "abcdefghijkl/"),
  kind: "page",
  version: 0,
  docVersion: 0,
  depth: 3,
  hops: 0,
  priority: 1,
  discoveredAt: NOW,
  nextFetchAt: NOW,
  failureCount: 0,
};

const visitedFourTimes: UrlState = {
  ...discovered,
  version: 4,
  docVersion: 3,
  priority: 2,
  nextFetchAt: NOW + 42 * DAY + 123,
  lastOutcome: "fetched",
  lastStatus: 200,
  lastFetchAt: NOW + 30 * DAY + 456,
  lastLeaseId: "Abc-defg_123",
  etag: '"5e8b2a4c-1f40"',
  lastModified: "Sat, 15 Nov 2025 12:45:26 GMT",
  contentHash: bytes(1, 20),
  simHash: bytes(2, 8),
  linkSetHash: bytes(3, 8),
  indexed: true,
  changeHistory: [7, 10, 15].map((days) => ({ afterMs: days * DAY, changed: days === 10 })),
};

test("key and value after four visits with both validators take 200 bytes at most, where the URL has 80", () => {
  assert.equal(visitedFourTimes.canonicalUrl.length, 80);
  const size = KEY.length + encode(urlState, visitedFourTimes, KEY).length;
  assert.ok(size <= 200, `${size} bytes`);
  assert.ok(KEY.length + encode(urlState, discovered, KEY).length <= 120);
  assert.deepEqual(decode(urlState, encode(urlState, visitedFourTimes, KEY), KEY), visitedFourTimes);
});

const times = fc.oneof(fc.nat(), fc.integer({ min: NOW - 1000 * DAY, max: NOW + 1000 * DAY }), fc.constantFrom(0, NOW));
const texts = fc.oneof(fc.string(), fc.base64String(), fc.constantFrom("lease-1", "Abc-defg_123", "Abc=", "ab+/", "abc\u00e9"));
const required = {
  canonicalUrl: fc.oneof(
    fc.string(),
    fc.webUrl({ validSchemes: ["http", "https"], withQueryParameters: true }),
    fc.webPath().map((path) => `https://${PACE_KEY}${path}`),
    fc.webPath().map((path) => `http://${PACE_KEY}${path}`),
    fc.constantFrom(
      `https://${PACE_KEY}`,
      `https://${PACE_KEY}/`,
      `https://${PACE_KEY}:81/`,
      `ftp://${PACE_KEY}/a`,
      "https:///a",
    ),
  ),
  kind: fc.constantFrom("page" as const, "sitemap" as const),
  version: fc.nat(300),
  docVersion: fc.nat(300),
  depth: fc.nat(64),
  hops: fc.nat(10),
  priority: fc.nat(3),
  discoveredAt: times,
  nextFetchAt: times,
  failureCount: fc.nat(9),
};
const records = fc
  .record(
    {
      ...required,
      lastOutcome: fc.constantFrom(...outcomes),
      lastStatus: fc.constantFrom(200, 304, 404, 410, 503),
      lastReason: texts,
      lastFetchAt: times,
      lastLeaseId: texts,
      etag: texts,
      lastModified: fc.oneof(
        texts,
        fc.integer({ min: -(2 ** 31), max: 2 ** 33 }).map((seconds) => new Date(seconds * 1000).toUTCString()),
      ),
      contentHash: fc.uint8Array({ minLength: 20, maxLength: 20 }),
      simHash: fc.uint8Array({ minLength: 8, maxLength: 8 }),
      linkSetHash: fc.uint8Array({ minLength: 8, maxLength: 8 }),
      indexed: fc.boolean(),
      changeHistory: fc.array(
        fc.record({ afterMs: fc.nat(20_000).map((hours) => hours * HOUR), changed: fc.boolean() }, { noNullPrototype: true }),
        { maxLength: 16 },
      ),
      marks: fc.constantFrom<NonNullable<UrlState["marks"]>>(
        { index: "upsert" },
        { reparse: true },
        { dueFrom: { priority: 1, dueAt: NOW }, index: "delete" },
      ),
    },
    { requiredKeys: Object.keys(required) as (keyof typeof required)[], noNullPrototype: true },
  )
  .map((record) => record as UrlState);

for (const key of [KEY, "", "47/", "47//x", rowKey("example.org", "id")])
  test(`every record comes back under ${key === "" ? "no key" : `the key ${key}`}`, () => {
    fc.assert(
      fc.property(records, (record) => {
        assert.equal(urlState.fault(record, ""), undefined);
        assert.deepEqual(decode(urlState, encode(urlState, record, key), key), record);
      }),
    );
  });

test("a visit between two hours is kept as the nearer one", () => {
  const record = { ...visitedFourTimes, changeHistory: [{ afterMs: 30 * HOUR + HOUR / 2, changed: true }] };
  const [visit] = decode(urlState, encode(urlState, record, KEY), KEY).changeHistory!;
  assert.deepEqual(visit, { afterMs: 31 * HOUR, changed: true });
});

test("a record that is read without the key that it was written under is an error, not another URL", () => {
  assert.throws(() => decode(urlState, encode(urlState, discovered, KEY)), CodecError);
});

test("a record of the first shape is an error that names both versions", () => {
  const old = encode(urlState, discovered, KEY);
  old[0] = 1;
  assert.throws(() => decode(urlState, old, KEY), /a record of version 1; this program reads version 2/);
});

test("a hash of another size is not written", () => {
  assert.throws(() => encode(urlState, { ...visitedFourTimes, contentHash: bytes(1, 32) }, KEY), CodecError);
});

test("whatever the bytes, reading ends in a record or a CodecError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (given) => {
      try {
        decode(urlState, Buffer.concat([Buffer.of(2), given]), KEY);
      } catch (error) {
        assert.ok(error instanceof CodecError, String(error));
      }
    }),
  );
});
