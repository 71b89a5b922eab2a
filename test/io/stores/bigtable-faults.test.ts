import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Bigtable } from "@google-cloud/bigtable";
import { seededRandom } from "../../../io/random.ts";
import { blindWrites } from "../../../io/stores/bigtable/blind-writes.ts";
import { type BigtableOptions, bigtableCalls } from "../../../io/stores/bigtable/calls.ts";
import { bigtableClient } from "../../../io/stores/bigtable/client.ts";
import { eachRow } from "../../../io/stores/bigtable/each-row.ts";
import { status } from "../../../io/stores/bigtable/faults.ts";
import { setUpBigtable } from "../../../io/stores/bigtable/set-up.ts";
import { bigtableTable } from "../../../io/stores/bigtable/table.ts";
import { type Row, StoreError, type VersionedTable } from "../../../ports/versioned-table.ts";
import { versionedTableContract } from "../../contracts/versioned-table.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { type Fate, faultyClient } from "./bigtable-faulty-client.ts";

const PATIENCE = { pauseMs: 1, tries: 4, callMs: 5_000, operationMs: 10_000 };
/** After each of these nobody knows whether the call was carried out. */
const UNKNOWN = [
  "cancelled",
  "unknown",
  "deadlineExceeded",
  "resourceExhausted",
  "aborted",
  "internal",
  "unavailable",
  "dataLoss",
] as const;
const WRITE = "checkAndMutateRow";
const READ = "readRows";
const lost: Fate = { kind: "lost", code: status.unavailable };
const refused: Fate = { kind: "refused", code: status.unavailable };
const lateBefore: Fate = { kind: "late", code: status.deadlineExceeded, when: "before-next" };
const lateAfter: Fate = { kind: "late", code: status.deadlineExceeded, when: "after-next" };

await cloudTests({ bigtable: true }, (emulators) => {
  let client: Bigtable;
  let plain: VersionedTable;
  const options = (): BigtableOptions & { table: string } => ({ client, instance: "i", tablePrefix: "faults", table: "t" });
  before(async () => {
    client = bigtableClient({ project: "p", emulator: emulators().endpoint("bigtable") });
    await setUpBigtable({ ...options(), tables: ["t"] });
    plain = bigtableTable(options());
  });
  after(() => client.close());

  /** The table through a client whose first write calls, reading calls and blind writes meet these fates. */
  function meeting(writes: readonly Fate[], reads: readonly Fate[] = [], blind: readonly Fate[] = []) {
    const fates: Readonly<Record<string, readonly Fate[]>> = { [WRITE]: writes, [READ]: reads, mutateRows: blind };
    const faulty = faultyClient(client, (method, at) => fates[method]?.[at]);
    return { ...faulty, table: bigtableTable({ ...options(), client: faulty.client, patience: PATIENCE }) };
  }

  const writes: [situation: string, fates: Fate[], calls: [writes: number, reads: number]][] = [
    ["is heard", [], [1, 0]],
    ["was carried out and its answer lost", [lost], [1, 1]],
    ["never arrived", [refused], [2, 1]],
    ["never arrived, nor did the next one", [refused, refused], [3, 2]],
    ["never arrived, and the next one's answer was lost", [refused, lost], [2, 2]],
    ["arrives between the reading and its repetition", [lateBefore], [2, 2]],
    ["arrives after its repetition", [lateAfter], [2, 1]],
  ];
  for (const [situation, fates, [sent, read]] of writes) {
    const calls = new Map([[WRITE, sent], ...(read > 0 ? [[READ, read] as const] : [])]);

    test(`a compare-and-set that ${situation} is true, and stands once`, async () => {
      const key = `set/${situation}`;
      await plain.insertIfAbsent([row(key, "old")]);
      const { table, sent, settle } = meeting(fates);
      assert.equal(await table.compareAndSet(row(key, "new"), "old"), true);
      assert.deepEqual(sent, calls);
      assert.equal(await plain.compareAndSet(row(key, "newer"), "new"), true);
      await settle();
      assert.deepEqual(await plain.get([key]), [row(key, "newer")]);
    });

    test(`an insert that ${situation} is true, and stands once`, async () => {
      const key = `insert/${situation}`;
      const { table, sent, settle } = meeting(fates);
      assert.deepEqual(await table.insertIfAbsent([row(key, "new")]), [true]);
      assert.deepEqual(sent, calls);
      assert.equal(await plain.compareAndSet(row(key, "newer"), "new"), true);
      await settle();
      assert.deepEqual(await plain.get([key]), [row(key, "newer")]);
    });
  }

  for (const name of UNKNOWN) {
    test(`a write that ended with ${name} is read for its rev`, async () => {
      const key = `code/${name}`;
      const { table, sent } = meeting([
        { kind: "lost", code: status[name] },
        { kind: "refused", code: status[name] },
      ]);
      assert.deepEqual(await table.insertIfAbsent([row(key, "1")]), [true]);
      assert.equal(await table.compareAndSet(row(key, "2"), "1"), true);
      assert.deepEqual(
        sent,
        new Map([
          [WRITE, 3],
          [READ, 2],
        ]),
      );
    });
  }

  const unknowable: [situation: string, run: (key: string) => Promise<unknown>][] = [
    [
      "a compare-and-set whose answer was lost while another one wrote over it",
      (key) => meeting([{ ...lost, meanwhile: () => overwrite(key, "2") }]).table.compareAndSet(row(key, "2"), "1"),
    ],
    [
      "a compare-and-set that never arrived while another one wrote",
      (key) => meeting([{ ...refused, meanwhile: () => overwrite(key, "1") }]).table.compareAndSet(row(key, "2"), "1"),
    ],
    [
      "a compare-and-set whose row was deleted meanwhile",
      (key) => meeting([{ ...lost, meanwhile: () => plain.delete([{ key }]) }]).table.compareAndSet(row(key, "2"), "1"),
    ],
    ["an insert whose answer was lost, of a row that stood", (key) => meeting([lost]).table.insertIfAbsent([row(key, "2")])],
    [
      "an insert that came late, met itself when sent again, and was deleted by another",
      async (key) => {
        const gone = `${key}, gone`;
        const deleted: Fate = { kind: "heard", meanwhile: () => plain.delete([{ key: gone }]) };
        const inserting = meeting([lateBefore, deleted]).table.insertIfAbsent([row(gone, "1")]);
        return inserting.finally(async () => assert.deepEqual(await plain.get([gone]), [undefined]));
      },
    ],
    ["a delete whose answer was lost", (key) => meeting([lost]).table.delete([{ key, rev: "1" }])],
    ["a delete without a rev whose answer was lost", (key) => meeting([lost]).table.delete([{ key }])],
  ];
  for (const [situation, run] of unknowable) {
    test(`${situation} is neither true nor false: it rejects, and says so`, async () => {
      const key = `unknowable/${situation}`;
      await plain.insertIfAbsent([row(key, "1")]);
      await assert.rejects(run(key), (error) => {
        assert.ok(error instanceof StoreError && !error.final);
        assert.match(error.message, /faults-t .*moved on .*may or may not have happened/);
        return true;
      });
    });
  }

  for (const [situation, fates] of [
    ["was carried out and its answer lost", [lost]],
    ["never arrived", [refused]],
    ["was cut off, and the next one never arrived", [{ kind: "cut", code: status.unavailable, messages: 0 }, refused]],
  ] as const satisfies [string, Fate[]][])
    test(`a put or a drop that ${situation} is sent again, and done`, async () => {
      const key = `blind/${situation}`;
      await plain.insertIfAbsent([row(key, "1")]);
      const putting = meeting([], [], fates);
      await putting.table.put([row(key, "2"), row(`${key}, too`, "2")]);
      assert.deepEqual(putting.sent, new Map([["mutateRows", fates.length + 1]]));
      assert.deepEqual(await plain.get([key, `${key}, too`]), [row(key, "2"), row(`${key}, too`, "2")]);
      await meeting([], [], fates).table.drop([key]);
      assert.deepEqual(await plain.get([key, `${key}, too`]), [undefined, row(`${key}, too`, "2")]);
    });

  test("a put that is refused for good, or for too long, rejects, and says where", async () => {
    for (const code of [status.permissionDenied, status.unavailable]) {
      const { table } = meeting([], [], Array(9).fill({ kind: "cut", code, messages: 0 } satisfies Fate));
      await assert.rejects(table.put([row("blind/refused", "1")]), (error) => {
        assert.ok(error instanceof StoreError && error.final === (code === status.permissionDenied));
        assert.match(error.message, /table faults-t of Bigtable instance i/);
        return true;
      });
    }
  });

  test("of a batch the rows that were told to be done are not sent again, and one that is refused rejects it", async () => {
    const answered = (codes: number[][]) => {
      const sent: number[] = [];
      const calls = {
        ...bigtableCalls({ ...options(), patience: PATIENCE }),
        async mutateRows(_table: string, entries: readonly unknown[]) {
          sent.push(entries.length);
          return codes[sent.length - 1]!;
        },
      };
      const entries = ["a", "b", "c"].map((key) => ({ rowKey: Buffer.from(key), mutations: [] }));
      return { sent, done: blindWrites(calls, "t")(entries) };
    };
    const again = answered([[0, status.unavailable, status.aborted], [0, status.unavailable], [0]]);
    await again.done;
    assert.deepEqual(again.sent, [3, 2, 1]);
    const refusedOne = answered([[0, status.unavailable, status.permissionDenied]]);
    await assert.rejects(refusedOne.done, (error) => error instanceof StoreError && error.final);
    assert.deepEqual(refusedOne.sent, [3]);
  });

  test("a delete that never arrived is sent again, and deletes", async () => {
    await plain.insertIfAbsent([row("delete/a", "1"), row("delete/b", "1")]);
    assert.deepEqual(await meeting([refused]).table.delete([{ key: "delete/a", rev: "1" }]), [true]);
    assert.deepEqual(await meeting([refused]).table.delete([{ key: "delete/b" }]), [true]);
    assert.deepEqual(await plain.get(["delete/a", "delete/b"]), [undefined, undefined]);
  });

  test("a delete with a rev that arrives late leaves alone what was inserted since", async () => {
    await plain.insertIfAbsent([row("delete/late", "1")]);
    const { table, settle } = meeting([lateAfter, refused, refused, refused]);
    await assert.rejects(table.delete([{ key: "delete/late", rev: "1" }]), StoreError);
    await plain.delete([{ key: "delete/late" }]);
    await plain.insertIfAbsent([row("delete/late", "2")]);
    await settle();
    assert.deepEqual(await plain.get(["delete/late"]), [row("delete/late", "2")]);
  });

  test("a call that is carried out twice changes a row once", async () => {
    const { table } = meeting(Array(4).fill({ kind: "double" }));
    await table.insertIfAbsent([row("double", "1")]);
    await table.compareAndSet(row("double", "2"), "1");
    assert.deepEqual(await plain.get(["double"]), [row("double", "2")]);
  });

  test("a store that stays away is given up after a few tries, in a line that names it", async () => {
    const { table, sent } = meeting(Array(99).fill(refused));
    await assert.rejects(table.insertIfAbsent([row("away", "1")]), (error) => {
      assert.ok(error instanceof StoreError && !error.final);
      assert.match(error.message, /table faults-t of Bigtable instance i in project p cannot be reached/);
      return true;
    });
    assert.deepEqual(
      sent,
      new Map([
        [WRITE, PATIENCE.tries],
        [READ, PATIENCE.tries],
      ]),
    );
  });

  test("of a batch the rows that failed do not hold back those before them, and nothing is under way when it rejects", async () => {
    const rows = Array.from({ length: 40 }, (_, at) => row(`batch/${at}`, "1"));
    const { table, sent } = meeting([...Array(20), { kind: "refused", code: status.permissionDenied }] as Fate[]);
    await assert.rejects(table.insertIfAbsent(rows), (error) => error instanceof StoreError && error.final);
    assert.equal(sent.get(WRITE), 40);
    const found = await plain.get(rows.map(({ key }) => key));
    assert.equal(found.filter((one) => one === undefined).length, 1);
  });

  for (const name of ["invalidArgument", "notFound", "permissionDenied", "failedPrecondition", "unauthenticated"] as const) {
    test(`what is refused with ${name} is neither repeated nor read for`, async () => {
      const no: Fate = { kind: "refused", code: status[name] };
      const { table, sent } = meeting([no], [no]);
      await assert.rejects(table.insertIfAbsent([row("refused", "1")]), StoreError);
      assert.deepEqual(sent, new Map([[WRITE, 1]]));
      await assert.rejects(table.get(["refused"]), StoreError);
      assert.deepEqual(
        sent,
        new Map([
          [WRITE, 1],
          [READ, 1],
        ]),
      );
    });
  }

  for (const name of UNKNOWN) {
    for (const messages of [0, 1]) {
      test(`a reading that ends with ${name} after ${messages} messages is repeated, and no row is missing`, async () => {
        const keys = Array.from({ length: 20 }, (_, at) => `cut/${String(at).padStart(2, "0")}`);
        await plain.insertIfAbsent(keys.map((key) => row(key, "1")));
        const cut: Fate = { kind: "cut", code: status[name], messages };
        const { table, sent } = meeting([], [cut, cut, ...Array(1), cut]);
        assert.deepEqual(
          (await table.get(keys)).map((one) => one?.key),
          keys,
        );
        assert.deepEqual(
          (await table.scan({ from: "cut/", to: "cut0", limit: 50 })).map(({ key }) => key),
          keys,
        );
        assert.equal(sent.get(READ), 5);
      });
    }
  }

  test("whatever answers are lost: what is true happened once, what is false never, what rejects at most once", async () => {
    const random = seededRandom("lost answers");
    const chance = (): Fate | undefined => {
      const code = [status.unavailable, status.deadlineExceeded, status.aborted, status.cancelled][
        Math.floor(random.next() * 4)
      ]!;
      const draw = random.next();
      if (draw < 0.1) return { kind: "refused", code };
      if (draw < 0.2) return { kind: "lost", code };
      if (draw < 0.25) return { kind: "late", code, when: "before-next" };
      if (draw < 0.3) return { kind: "late", code, when: "after-next" };
      return undefined;
    };
    const { client: faulty, settle } = faultyClient(client, (method) =>
      method === WRITE || random.next() < 0.1 ? chance() : undefined,
    );
    const table = bigtableTable({ ...options(), client: faulty, patience: PATIENCE });
    await plain.insertIfAbsent([row("law", "start", "")]);
    const told = new Map<string, boolean | undefined>();
    await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let at = 0; at < 12; at++) {
          const [found] = await plain.get(["law"]);
          const mark = `<${writer}.${at}>`;
          const next = row("law", `rev ${mark}`, Buffer.from(found!.value).toString() + mark);
          told.set(
            mark,
            await table.compareAndSet(next, found!.rev).catch((error) => {
              assert.ok(error instanceof StoreError && !error.final, String(error));
              return undefined;
            }),
          );
        }
      }),
    );
    await settle();
    const text = Buffer.from((await plain.get(["law"]))[0]!.value).toString();
    const counts = new Map([...told.keys()].map((mark) => [mark, text.split(mark).length - 1]));
    for (const [mark, answer] of told) {
      if (answer === undefined) assert.ok(counts.get(mark)! <= 1, mark);
      else assert.equal(counts.get(mark), answer ? 1 : 0, `${mark} ${answer}`);
    }
    const answers = [...told.values()];
    assert.ok(
      [true, false, undefined].every((one) => answers.includes(one)),
      "the test met all three",
    );
  });

  versionedTableContract("on Bigtable, of whose calls many never arrive, or twice, or break off", async () => {
    const { client: faulty } = faultyClient(client, (method, before) => {
      const code = before % 2 === 0 ? status.unavailable : status.cancelled;
      if (method === READ) return before % 3 === 0 ? { kind: "cut", code, messages: before % 2 } : undefined;
      if (method !== WRITE) return undefined;
      return before % 5 === 0 ? { kind: "refused", code } : before % 7 === 0 ? { kind: "double" } : undefined;
    });
    await setUpBigtable({ ...options(), tables: ["contract"] });
    const table = bigtableTable({ ...options(), table: "contract", client: faulty, patience: { ...PATIENCE, tries: 9 } });
    return { table: askedAgain(table), close: async () => {} };
  });

  async function overwrite(key: string, rev: string): Promise<void> {
    assert.equal(await plain.compareAndSet(row(key, "another's"), rev), true);
  }
});

/**
 * As a caller does where a call rejects of which nobody can know: nothing was carried out here unheard, so that asking again tells. Where
 * an answer was lost it would not: the caller reads the row, and finds by its content what became of it.
 */
function askedAgain(table: VersionedTable): VersionedTable {
  const again = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        if (tries === 9 || !/may or may not have happened/.test(String(error))) throw error;
      }
    }
  };
  return {
    get: (keys) => table.get(keys),
    scan: (range) => table.scan(range),
    put: (rows) => table.put(rows),
    drop: (keys) => table.drop(keys),
    compareAndSet: (row, expectedRev) => again(() => table.compareAndSet(row, expectedRev)),
    // One row a call: the others of a batch that rejects may have been written.
    insertIfAbsent: (rows) => oneByOne(rows, async (row) => (await again(() => table.insertIfAbsent([row])))[0]!),
    delete: (rows) => oneByOne(rows, async (row) => (await again(() => table.delete([row])))[0]!),
  };
}

async function oneByOne<R extends { key: string }>(rows: readonly R[], work: (row: R) => Promise<boolean>): Promise<boolean[]> {
  // The suite changes its bytes while the call is out.
  const given = rows.map((row) =>
    "value" in row && row.value instanceof Uint8Array ? { ...row, value: new Uint8Array(row.value) } : row,
  );
  return eachRow(given, work);
}

function row(key: string, rev: string, value = "value"): Row {
  return { key, rev, value: Uint8Array.from(Buffer.from(value)) };
}
