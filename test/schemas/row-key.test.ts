import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  afterPrefix,
  type DueEntry,
  dueKey,
  duePrefix,
  hostDueKey,
  paceKeyOf,
  paceKeyOfHostDue,
  parseDueKey,
  rowKey,
  shardPrefix,
} from "../../schemas/row-key.ts";

const paceKeys = fc.oneof(
  fc.domain(),
  fc.domain().map((name) => `${name}:8080`),
  fc.constantFrom("localhost", "127.0.0.1:80", "[::1]:8443"),
);
const entries: fc.Arbitrary<DueEntry> = fc.record({
  paceKey: paceKeys,
  priority: fc.nat(3),
  dueAt: fc.oneof(fc.nat(), fc.constantFrom(0, 9_999_999_999, 1_900_000_000_000)),
  urlId: fc.stringMatching(/^[A-Za-z0-9_-]{22}$/),
});

test("an entry comes back from its key", () => {
  fc.assert(fc.property(entries, (entry) => assert.deepEqual(parseDueKey(dueKey(entry)), { ...entry })));
});

test("the entries of a host stand in the order of class, time and id, and other hosts' not among them", () => {
  fc.assert(
    fc.property(entries, entries, (one, two) => {
      const other = { ...two, paceKey: one.paceKey };
      const order = (a: DueEntry, b: DueEntry) =>
        a.priority - b.priority || a.dueAt - b.dueAt || (a.urlId < b.urlId ? -1 : a.urlId > b.urlId ? 1 : 0);
      assert.equal(Math.sign(order(one, other)), compared(dueKey(one), dueKey(other)));
      if (two.paceKey !== one.paceKey) assert.ok(!within(rowKey(one.paceKey), dueKey(two)));
    }),
  );
});

test("a prefix ends before its neighbour", () => {
  fc.assert(
    fc.property(entries, (entry) => {
      for (const prefix of [rowKey(entry.paceKey), duePrefix(entry.paceKey, entry.priority)])
        assert.ok(within(prefix, dueKey(entry)));
      assert.ok(!within(duePrefix(entry.paceKey, entry.priority + 1), dueKey(entry)));
    }),
  );
});

test("a host's rows lie together under two digits that follow from its name", () => {
  assert.match(rowKey("example.org", "x"), /^[0-9a-f]{2}\/example\.org\/x$/);
});

test("the digits stay what they are for ever: stores are laid out by them", () => {
  const known = ["", "example.org", "www.example.org", "example.org:8080", "[::1]:8443", "xn--bcher-kva.example"];
  assert.deepEqual(
    known.map((paceKey) => rowKey(paceKey).slice(0, 2)),
    ["ab", "a4", "5b", "e4", "38", "83"],
  );
  assert.deepEqual(
    known.map((paceKey) => hostDueKey(paceKey, 256).slice(0, 4)),
    ["000b", "0023", "0066", "008b", "0035", "006d"],
  );
});

const families: [name: string, paceKey: (index: number) => string][] = [
  ["names that end alike", (index) => `host${index}.example.org`],
  ["names that begin alike", (index) => `example.org:${index}`],
  ["addresses", (index) => `10.${index >> 8}.${index & 255}.1`],
  ["names in base 36", (index) => `${index.toString(36)}.test`],
];
for (const [name, paceKey] of families)
  test(`${name} spread over all digits and all shards`, () => {
    const keys = Array.from({ length: 25_600 }, (_, index) => paceKey(index));
    for (const digits of [(key: string) => rowKey(key).slice(0, 2), (key: string) => hostDueKey(key, 256).slice(0, 4)]) {
      const counts = new Map<string, number>();
      for (const key of keys) counts.set(digits(key), (counts.get(digits(key)) ?? 0) + 1);
      assert.equal(counts.size, 256);
      assert.ok(Math.max(...counts.values()) < 160, "no prefix has much more than its hundred"); // six deviations
    }
  });

test("the pace key comes back from a row key, whatever else stands in it", () => {
  fc.assert(
    fc.property(paceKeys, (paceKey) => {
      for (const own of ["", "id", `https://${paceKey}`]) assert.equal(paceKeyOf(rowKey(paceKey, own)), paceKey);
    }),
  );
});

test("due times of hosts stand by shard, every shard is met, and the pace key comes back", () => {
  const seen = new Set<number>();
  for (let index = 0; index < 200; index++) {
    const paceKey = `host${index}.example.org:81`;
    const key = hostDueKey(paceKey, 16);
    const shard = Array.from({ length: 16 }, (_, at) => at).filter((at) => within(shardPrefix(at), key));
    assert.equal(shard.length, 1);
    seen.add(shard[0]!);
    assert.equal(paceKeyOfHostDue(key), paceKey);
  }
  assert.equal(seen.size, 16);
});

function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function within(prefix: string, key: string): boolean {
  return key >= prefix && key < afterPrefix(prefix);
}
