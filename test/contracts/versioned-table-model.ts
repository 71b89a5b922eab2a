// Does any run of operations on a versioned table answer as a plain Map does? A law of every adapter.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Row, VersionedTable } from "../../ports/versioned-table.ts";
import { row } from "./table-row.ts";

type Step =
  | { kind: "insert" | "get"; keys: string[] }
  | { kind: "set"; key: string; stale: boolean }
  | { kind: "delete"; keys: string[]; rev: "none" | "right" | "wrong" }
  | { kind: "put" | "drop"; keys: string[] }
  | { kind: "scan"; from: string; to: string; limit: number };

const modelKey = fc.constantFrom("", "a", "a\0", "aa", "b", "é", "\uFFFD", "\u{1F600}", "z");
const modelKeys = fc.array(modelKey, { maxLength: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("insert" as const, "get" as const), keys: modelKeys }),
  fc.record({ kind: fc.constant("set" as const), key: modelKey, stale: fc.boolean() }),
  fc.record({ kind: fc.constant("delete" as const), keys: modelKeys, rev: fc.constantFrom("none", "right", "wrong") }),
  fc.record({ kind: fc.constantFrom("put" as const, "drop" as const), keys: modelKeys }),
  fc.record({ kind: fc.constant("scan" as const), from: modelKey, to: modelKey, limit: fc.nat(6) }),
);

export function tableModel(of: () => VersionedTable): void {
  test("any run of operations answers as a plain Map does", async () => {
    let run = 0;
    let revs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const prefix = `model/${run++}/`;
        const standing = new Map<string, Row>();
        const fresh = (key: string): Row => row(prefix + key, `rev-${++revs}`, `value ${revs}`);
        for (const one of steps) assert.deepEqual(...(await bothAnswers(of(), standing, one, { prefix, fresh })));
      }),
      { numRuns: 60 },
    );
  });
}

interface Naming {
  prefix: string;
  fresh: (key: string) => Row;
}

/** What the table and the model say to one step. */
async function bothAnswers(
  table: VersionedTable,
  standing: Map<string, Row>,
  one: Step,
  { prefix, fresh }: Naming,
): Promise<[unknown, unknown]> {
  switch (one.kind) {
    case "get": {
      const keys = one.keys.map((key) => prefix + key);
      return [await table.get(keys), keys.map((key) => standing.get(key))];
    }
    case "insert": {
      const rows = one.keys.map(fresh);
      return [
        await table.insertIfAbsent(rows),
        rows.map((added) => !standing.has(added.key) && standing.set(added.key, added) !== undefined),
      ];
    }
    case "set": {
      const next = fresh(one.key);
      const rev = standing.get(next.key)?.rev;
      const wins = rev !== undefined && !one.stale;
      const answer = await table.compareAndSet(next, one.stale ? "stale" : (rev ?? "absent"));
      if (wins) standing.set(next.key, next);
      return [answer, wins];
    }
    case "delete": {
      const asked = one.keys.map((key) => deletion(standing.get(prefix + key)?.rev, prefix + key, one.rev));
      const answer = await table.delete(asked);
      return [
        answer,
        asked.map(({ key, rev }) => (rev === undefined || standing.get(key)?.rev === rev) && standing.delete(key)),
      ];
    }
    case "put": {
      const rows = one.keys.map(fresh);
      for (const put of rows) standing.set(put.key, put);
      return [await table.put(rows), undefined];
    }
    case "drop": {
      const keys = one.keys.map((key) => prefix + key);
      for (const key of keys) standing.delete(key);
      return [await table.drop(keys), undefined];
    }
    case "scan": {
      const range = { from: prefix + one.from, to: prefix + one.to, limit: one.limit };
      return [await table.scan(range), modelScan(standing, range)];
    }
  }
}

function deletion(stands: string | undefined, key: string, rev: "none" | "right" | "wrong"): { key: string; rev?: string } {
  if (rev === "none") return { key };
  return { key, rev: rev === "right" && stands !== undefined ? stands : "wrong" };
}

function modelScan(standing: Map<string, Row>, { from, to, limit }: { from: string; to: string; limit: number }): Row[] {
  const bytes = (key: string): Buffer => Buffer.from(key);
  return [...standing.values()]
    .filter(({ key }) => Buffer.compare(bytes(key), bytes(from)) >= 0 && Buffer.compare(bytes(key), bytes(to)) < 0)
    .sort((a, b) => Buffer.compare(bytes(a.key), bytes(b.key)))
    .slice(0, limit);
}
