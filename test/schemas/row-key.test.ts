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
  const digits = new Set(Array.from({ length: 2_000 }, (_, index) => rowKey(`host${index}.example.org`).slice(0, 2)));
  assert.ok(digits.size > 250, "they spread");
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
