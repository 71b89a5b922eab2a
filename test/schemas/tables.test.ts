// Do the tables follow from the shapes of the events, and does every event fit its table?
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { eventLine } from "../../io/objects/event-line.ts";
import { bool, bytes, type Codec, type Kind, list, optional, struct, text, uint } from "../../schemas/codec.ts";
import { type EventKind, type EventOf, eventShapes, pageDocument } from "../../schemas/events.ts";
import { leaseKinds } from "../../schemas/host-state.ts";
import { outcomes } from "../../schemas/reasons.ts";
import { columnsOf } from "../../schemas/tables/columns.ts";
import { duckdbColumns, identifier, quoted } from "../../schemas/tables/duckdb-columns.ts";
import { eventTables, tableFiles } from "../../schemas/tables/event-tables.ts";
import { columnNamesFault, messageFault } from "../../schemas/tables/message.ts";
import { openStats } from "../../tools/lib/stats-database.ts";

/** Fields of a closed list of words, which the shape tells only as text. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "fetch.kind": leaseKinds,
  "fetch.outcome": outcomes,
  "index.op": ["upsert", "delete"],
};

function anyOf(kind: Kind, path: string): fc.Arbitrary<unknown> {
  if (WORDS[path] !== undefined) return fc.constantFrom(...WORDS[path]);
  switch (kind.kind) {
    case "text":
      return fc.string({ unit: "grapheme" });
    case "uint":
      return fc.maxSafeNat();
    case "list":
      return fc.array(anyOf(kind.of, path), { maxLength: 3 });
    case "struct":
      return anyRecord(kind.fields, path);
    default:
      throw new Error(`${path}: no event has ${kind.kind} values`);
  }
}

function anyRecord(fields: Readonly<Record<string, Kind>>, path: string): fc.Arbitrary<Record<string, unknown>> {
  const entries = Object.entries(fields).map(([name, kind]) => {
    return [name, anyOf(kind.kind === "optional" ? kind.of : kind, `${path}.${name}`)] as const;
  });
  const requiredKeys = Object.keys(fields).filter((name) => fields[name]!.kind !== "optional");
  return fc.record(Object.fromEntries(entries), { requiredKeys });
}

function anyEvent<K extends EventKind>(kind: K): fc.Arbitrary<EventOf<K>> {
  return anyOf(eventShapes[kind].shape, kind) as fc.Arbitrary<EventOf<K>>;
}

const COMMITTED = join(import.meta.dirname, "../../schemas/tables");

test("what is committed is what the generator gives", () => {
  const committed = readdirSync(COMMITTED).filter((name) => name.endsWith(".json"));
  assert.deepEqual(committed.sort(), Object.keys(tableFiles()).sort());
  for (const [name, content] of Object.entries(tableFiles()))
    assert.equal(readFileSync(join(COMMITTED, name), "utf8"), content, `${name}: npm run stats -- --schemas schemas/tables`);
});

test("each kind of field has its type and mode, nested ones too", () => {
  const shape = struct({
    a: text,
    b: optional(uint),
    c: list(bool),
    d: optional(list(text)),
    e: list(struct({ f: uint, g: optional(struct({ h: text })) })),
  }).shape;
  assert.deepEqual(columnsOf(shape, { a: "first", "e.g.h": "deep" }), [
    { name: "a", type: "STRING", mode: "REQUIRED", description: "first" },
    { name: "b", type: "INT64", mode: "NULLABLE" },
    { name: "c", type: "BOOL", mode: "REPEATED" },
    { name: "d", type: "STRING", mode: "REPEATED" },
    {
      name: "e",
      type: "RECORD",
      mode: "REPEATED",
      fields: [
        { name: "f", type: "INT64", mode: "REQUIRED" },
        {
          name: "g",
          type: "RECORD",
          mode: "NULLABLE",
          fields: [{ name: "h", type: "STRING", mode: "REQUIRED", description: "deep" }],
        },
      ],
    },
  ]);
  assert.equal(
    duckdbColumns(columnsOf(shape)),
    `{'a': 'VARCHAR', 'b': 'BIGINT', 'c': 'BOOLEAN[]', 'd': 'VARCHAR[]', 'e': 'STRUCT("f" BIGINT, "g" STRUCT("h" VARCHAR))[]'}`,
  );
});

test("the document of a page would have a table, too", () => {
  const columns = columnsOf(pageDocument.shape);
  assert.equal(columnNamesFault(columns), undefined);
  assert.deepEqual(
    columns.filter(({ mode }) => mode === "REPEATED").map(({ name, type }) => `${name} ${type}`),
    ["headings RECORD", "structuredData STRING", "links STRING"],
  );
});

const tableless: [what: string, codec: Codec<never>, fault: RegExp][] = [
  ["no record", text as Codec<never>, /not a text/],
  ["bytes", struct({ a: struct({ b: bytes }) }) as Codec<never>, /a\.b: bytes/],
  ["a list of lists", struct({ a: list(list(text)) }) as Codec<never>, /a: a list of list/],
  ["a list with gaps", struct({ a: list(optional(text)) }) as Codec<never>, /a: a list of optional/],
];
for (const [what, codec, fault] of tableless)
  test(`${what}: has no table`, () => {
    assert.throws(() => columnsOf(codec.shape), fault);
  });

test("every column of every table is described, and has a name that BigQuery takes", () => {
  for (const { name, columns } of eventTables) {
    assert.equal(columnNamesFault(columns), undefined, name);
    for (const column of columns) assert.ok(column.description, `${name}.${column.name}`);
  }
});

test("tables are clustered by columns that they have", () => {
  assert.deepEqual(eventTables.map(({ kind }) => kind).sort(), Object.keys(eventShapes).sort());
  for (const { clustering, columns } of eventTables)
    for (const name of clustering) assert.ok(columns.some((column) => column.name === name));
});

const column = (name: string) => ({ name, type: "STRING", mode: "REQUIRED" }) as const;
const names: [columns: string[], fault: RegExp][] = [
  [["a-b"], /a-b: not letters/],
  [["1a"], /1a: not letters/],
  [["_PARTITIONTIME"], /BigQuery's own/],
  [["urlId", "URLID"], /URLID: there twice/],
];
for (const [given, fault] of names)
  test(`a table with the columns ${given.join(", ")} is refused`, () => {
    assert.match(columnNamesFault(given.map(column)) ?? "", fault);
  });

test("a fault of a name deep inside is found", () => {
  const inner = { name: "in", type: "RECORD", mode: "NULLABLE", fields: [column("a b")] } as const;
  assert.equal(columnNamesFault([{ ...inner, fields: [...inner.fields] }]), "in.a b: not letters, digits and underscores");
});

for (const { kind, columns } of eventTables) {
  test(`every ${kind} event, as its line is written, is a row of its table`, () => {
    fc.assert(fc.property(anyEvent(kind), (event) => messageFault(columns, eventLine(kind, event)) === undefined));
  });

  test(`a ${kind} event without a required field, with an unknown one or with one of another type is no row`, () => {
    fc.assert(
      fc.property(anyEvent(kind), fc.constantFrom(...columns), ({ ...event }, { name, type, mode }) => {
        const record = event as Record<string, unknown>;
        const { [name]: _, ...without } = record;
        const other = type === "STRING" ? 7 : "7";
        assert.equal(messageFault(columns, JSON.stringify(without)) !== undefined, mode === "REQUIRED");
        assert.match(messageFault(columns, JSON.stringify({ ...record, [`${name}2`]: 1 })) ?? "", /no such column/);
        const wrong = mode === "REPEATED" ? [other] : other;
        assert.match(messageFault(columns, JSON.stringify({ ...record, [name]: wrong })) ?? "", new RegExp(`^${name}.*not a`));
      }),
    );
  });
}

test("DuckDB reads every event as it was written, with the types that were declared", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "tables-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const given = {
    fetch: fc.sample(anyEvent("fetch"), 50),
    index: fc.sample(anyEvent("index"), 50),
    skip: fc.sample(anyEvent("skip"), 50),
  };
  for (const kind of ["fetch", "index", "skip"] as const) {
    const day = join(folder, "events", kind, "dt=2026-11-30");
    mkdirSync(day, { recursive: true });
    writeFileSync(join(day, "part-1.ndjson"), given[kind].map((event) => `${eventLine(kind, event as never)}\n`).join(""));
  }
  const { connection, close } = await openStats(folder);
  context.after(close);
  for (const { kind, name, columns } of eventTables) {
    const rows = await (await connection.stream(`SELECT * FROM ${name}`)).getRowsJS();
    const expected = given[kind].map((event) =>
      columns.map(({ name: field, type }) => {
        const value = (event as Record<string, unknown>)[field] ?? null;
        return type === "INT64" && value !== null ? BigInt(value as number) : value;
      }),
    );
    assert.deepEqual(
      rows.map((row) => row.slice(0, -1)),
      expected,
      name,
    ); // the last is _PARTITIONDATE
  }
});

const small = { at: 5, hostKey: "http://a.test", reason: "scope", count: 1, samples: ["http://b.test/"] };
const messages: [kind: EventKind, message: string, fault: string | undefined][] = [
  ["skip", JSON.stringify(small), undefined],
  ["skip", JSON.stringify({ ...small, source: "link" }), undefined],
  ["skip", JSON.stringify({ ...small, source: null }), undefined],
  ["skip", JSON.stringify({ ...small, samples: undefined }), undefined],
  ["skip", "", "not JSON"],
  ["skip", JSON.stringify(small).slice(0, -1), "not JSON"],
  ["skip", "[]", "message: not an object"],
  ["skip", "null", "message: not an object"],
  ["skip", "{}", "at: required, and absent"],
  ["skip", JSON.stringify({ ...small, at: null }), "at: required, and absent"],
  ["skip", JSON.stringify({ ...small, at: "5" }), "at: not a whole number that JSON can hold"],
  ["skip", JSON.stringify({ ...small, at: 5.5 }), "at: not a whole number that JSON can hold"],
  ["skip", JSON.stringify({ ...small, at: 2 ** 53 }), "at: not a whole number that JSON can hold"],
  ["skip", JSON.stringify({ ...small, samples: "http://b.test/" }), "samples: not a list"],
  ["skip", JSON.stringify({ ...small, samples: null }), "samples: not a list"],
  ["skip", JSON.stringify({ ...small, samples: ["x", null] }), "samples[1]: not a string"],
  ["skip", JSON.stringify({ ...small, hostkey: "x" }), "hostkey: no such column"],
  ["skip", '{"__proto__": 1}', "__proto__: no such column"],
  ["index", JSON.stringify(small), "hostKey: no such column"],
];
for (const [kind, message, fault] of messages)
  test(`${kind} message ${message}: ${fault ?? "a row"}`, () => {
    assert.equal(messageFault(eventTables.find((table) => table.kind === kind)!.columns, message), fault);
  });

test("no message makes the check throw", () => {
  const { columns } = eventTables[0]!;
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (message) => typeof messageFault(columns, message) !== "object"));
});

test("names and strings of SQL end where they end", () => {
  assert.equal(quoted("it's"), "'it''s'");
  assert.equal(identifier('a"b'), '"a""b"');
});
