// Does npm run stats answer an analyst's questions from the event files, and nothing but questions?
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../io/clock.ts";
import { eventLine } from "../../io/objects/event-line.ts";
import { fileEvents } from "../../io/objects/events-files.ts";
import { realFiles } from "../../io/objects/file-layer.ts";
import { systemRandom } from "../../io/random.ts";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { UsageError } from "../../pipelines/options.ts";
import type { EventKind, EventOf, FetchEvent, IndexEvent, SkipEvent } from "../../schemas/events.ts";
import { eventTables, tableFiles } from "../../schemas/tables/event-tables.ts";
import { openStats, sqlFiles } from "../../tools/lib/stats-database.ts";
import { ask } from "../../tools/lib/stats-query.ts";
import { runStats } from "../../tools/lib/stats-tool.ts";

interface Day {
  fetch?: FetchEvent[];
  index?: IndexEvent[];
  skip?: SkipEvent[];
}

async function emptyFolder(context: Pick<TestContext, "after">): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "stats-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "events"));
  return folder;
}

/** A data folder with these events, by the day that they were told on; `after` stands behind the last whole line of each part. */
async function given(context: Pick<TestContext, "after">, days: Record<string, Day>, after = ""): Promise<string> {
  const folder = await emptyFolder(context);
  for (const [day, kinds] of Object.entries(days))
    for (const [kind, events] of Object.entries(kinds)) {
      const place = join(folder, "events", kind, `dt=${day}`);
      mkdirSync(place, { recursive: true });
      const lines = (events as EventOf<EventKind>[]).map((event) => `${eventLine(kind as EventKind, event as never)}\n`);
      writeFileSync(join(place, "part-20261130T000000-abc.ndjson"), lines.join("") + after);
    }
  return folder;
}

async function stats(...args: string[]) {
  let stdout = "";
  const told = await runStats(args, async (text) => {
    stdout += text;
  });
  return { ...told, stdout };
}

/** The rows of an answer, each as the list of its values. */
async function rowsOf(folder: string, ...args: string[]): Promise<unknown[][]> {
  const { stdout, stderr } = await stats(...args, "--json", "--data", folder);
  assert.equal(stderr, "");
  return (JSON.parse(stdout) as object[]).map((row) => Object.values(row));
}

const DAY = Date.UTC(2026, 10, 29);

let leases = 0;
function fetched(path: string, at: number, changes: Partial<FetchEvent> = {}): FetchEvent {
  return {
    at: DAY + at,
    url: `http://a.test${path}`,
    urlId: path,
    hostKey: "http://a.test",
    paceKey: "a.test",
    kind: "page",
    leaseId: `lease-${leases++}`,
    version: 0,
    outcome: "fetched",
    status: 200,
    wireBytes: 10,
    bodyBytes: 20,
    latencyMs: 100,
    ...changes,
  };
}

function unanswered(event: FetchEvent): FetchEvent {
  const { status: _s, wireBytes: _w, bodyBytes: _b, latencyMs: _l, ...rest } = event;
  return rest;
}

const onB = { hostKey: "https://b.test", paceKey: "b.test" };
const twice = fetched("/twice", 4_000);
const twoDays: Record<string, Day> = {
  "2026-11-29": {
    fetch: [
      fetched("/robots.txt", 0, { kind: "robots", latencyMs: 20 }),
      fetched("/", 1_100, { latencyMs: 300 }), // 1,080 ms after the answer before
      fetched("/gone", 2_399, { outcome: "gone", status: 404, wireBytes: 0, bodyBytes: 0 }), // 999 ms
      twice,
      twice, // told twice: no gap of 0 ms
      unanswered(fetched("/lost", 5_200, { outcome: "failed", reason: "reset" })), // 1,100 ms
      unanswered(fetched("/no-socket", 5_300, { outcome: "failed", reason: "connect" })), // no request
      unanswered(fetched("/private", 5_400, { outcome: "robots" })), // none either
    ],
  },
  "2026-11-30": {
    fetch: [
      twice, // and a third time, late
      fetched("/", 86_400_000, { outcome: "unchanged", status: 304, wireBytes: 0, bodyBytes: 0 }),
      fetched("/", 500, { ...onB, url: "https://b.test/", outcome: "redirect", status: 301, redirectTo: "http://a.test/" }),
    ],
  },
};

test("hosts: pages, statuses, bytes, mean latency and the last answer of each", async (context) => {
  const folder = await given(context, twoDays);
  assert.deepEqual(await rowsOf(folder, "--question", "hosts"), [
    // pages, 2xx, 3xx, 4xx, 5xx, failed, not asked, bytes, latency: (20 + 300 + 5 × 100) / 7
    ["http://a.test", 5, 5, 1, 1, 0, 2, 1, 50, 117.1, "2026-11-30T00:00:00.000Z"],
    ["https://b.test", 0, 0, 1, 0, 0, 0, 0, 10, 100, "2026-11-29T00:00:00.500Z"],
  ]);
  assert.deepEqual(await rowsOf(folder, "SELECT day, hostKey, attempts FROM host_days ORDER BY day, hostKey"), [
    ["2026-11-29", "http://a.test", 8],
    ["2026-11-30", "http://a.test", 2],
    ["2026-11-30", "https://b.test", 1],
  ]);
});

test("statuses: the answers of each day, the newest day first", async (context) => {
  const folder = await given(context, twoDays);
  assert.deepEqual(await rowsOf(folder, "--question", "statuses"), [
    ["2026-11-30", "fetched", 200, null, 1, 1, 10],
    ["2026-11-30", "redirect", 301, null, 1, 1, 10],
    ["2026-11-30", "unchanged", 304, null, 1, 1, 0],
    ["2026-11-29", "fetched", 200, null, 4, 1, 40],
    ["2026-11-29", "failed", null, "connect", 1, 1, 0],
    ["2026-11-29", "failed", null, "reset", 1, 1, 0],
    ["2026-11-29", "gone", 404, null, 1, 1, 0],
    ["2026-11-29", "robots", null, null, 1, 1, 0],
  ]);
});

test("politeness: gaps from answer to request, over midnight, without what asked nobody or was told twice", async (context) => {
  const folder = await given(context, twoDays);
  assert.deepEqual(await rowsOf(folder, "SELECT url, gapMs FROM request_gaps WHERE paceKey = 'a.test' ORDER BY sentAt"), [
    ["http://a.test/robots.txt", null],
    ["http://a.test/", 1_080],
    ["http://a.test/gone", 999],
    ["http://a.test/twice", 1_501],
    ["http://a.test/lost", 1_100],
    ["http://a.test/", 86_394_800],
  ]);
  assert.deepEqual(await rowsOf(folder, "--question", "politeness"), [
    ["a.test", 6, 999, 1_100, 1, 0.2, "2026-11-30T00:00:00.000Z"], // b.test has one request, so no gap
  ]);
});

test("freshness: the age of each URL's last answer, whatever came before it", async (context) => {
  const ago = (hours: number) => Date.now() - DAY - hours * 3_600_000 - 60_000;
  const folder = await given(context, {
    "2026-11-29": { fetch: [fetched("/a", ago(100)), fetched("/b", ago(30)), fetched("/c", ago(2))] },
    "2026-11-30": {
      fetch: [fetched("/a", ago(1)), fetched("/robots.txt", ago(0), { kind: "robots" }), unanswered(fetched("/c", ago(0)))],
    },
  });
  assert.deepEqual(await rowsOf(folder, "--question", "freshness"), [["http://a.test", 3, 1, 2, 30, 2, 3, 3]]);
});

const indexed = (url: string, docVersion: number, changes: Partial<IndexEvent> = {}): IndexEvent => ({
  at: DAY + docVersion,
  urlId: url,
  docVersion,
  op: "upsert",
  url,
  contentHash: "c1",
  ...changes,
});
const place = { segment: "s", offset: 7, length: 9 };
const documents: Record<string, Day> = {
  "2026-11-29": {
    index: [
      indexed("http://a.test/1", 1),
      indexed("http://a.test/1", 2, { contentHash: "c2", ...place }),
      indexed("http://a.test/2", 1),
      indexed("http://a.test/2", 2, { op: "delete" }),
      indexed("http://a.test/3", 3), // told when nothing was known of its place, and again:
      indexed("http://a.test/3", 3, place),
      indexed("http://a.test/4", 1, { op: "delete" }),
    ],
  },
  "2026-11-30": {
    index: [
      indexed("http://a.test/1", 1), // late, and told before
      indexed("http://a.test/3", 3, place),
      indexed("http://a.test/4", 2),
      indexed("https://b.test:81/", 1),
    ],
  },
};

test("documents_now: one row a document, its newest version, and none that was deleted", async (context) => {
  const folder = await given(context, documents);
  assert.deepEqual(await rowsOf(folder, "SELECT * FROM documents_now ORDER BY url"), [
    ["http://a.test/1", 2, "http://a.test/1", "a.test", "2026-11-29T00:00:00.002Z", "c2", "s", 7, 9],
    ["http://a.test/3", 3, "http://a.test/3", "a.test", "2026-11-29T00:00:00.003Z", "c1", "s", 7, 9],
    ["http://a.test/4", 2, "http://a.test/4", "a.test", "2026-11-29T00:00:00.002Z", "c1", null, null, null],
    ["https://b.test:81/", 1, "https://b.test:81/", "b.test:81", "2026-11-29T00:00:00.001Z", "c1", null, null, null],
  ]);
});

test("duplicates: content that the index has under several URLs now", async (context) => {
  const folder = await given(context, documents);
  assert.deepEqual(await rowsOf(folder, "--question", "duplicates"), [["c1", 3, 2, "http://a.test/3", "https://b.test:81/"]]);
});

test("refusals: by reason, host and source, before a lease and with one", async (context) => {
  const skip = (reason: string, count: number, source?: string): SkipEvent => ({
    at: DAY,
    hostKey: "http://a.test",
    reason,
    count,
    samples: [`http://x.test/${count}`],
    ...(source === undefined ? {} : { source }),
  });
  const folder = await given(context, {
    "2026-11-29": { ...twoDays["2026-11-29"], skip: [skip("scope", 3, "link"), { ...skip("depth", 2), samples: [] }] },
    "2026-11-30": { skip: [skip("scope", 4, "link"), skip("scope", 1, "seed")] },
  });
  assert.deepEqual(await rowsOf(folder, "--question", "refusals"), [
    ["scope", "http://a.test", "link", 7, "http://x.test/3"],
    ["depth", "http://a.test", null, 2, null],
    ["robots", "http://a.test", "fetch", 1, "http://a.test/private"],
    ["scope", "http://a.test", "seed", 1, "http://x.test/1"],
  ]);
});

test("without an event of a kind, or of any, every question has its columns and no rows", async (context) => {
  const folder = await emptyFolder(context);
  const { connection, close } = await openStats(folder);
  context.after(close);
  const answers = sqlFiles("questions").map(({ name, sql }) => ({
    name,
    sql,
    columns: /SELECT (.+)/.exec(sql)?.[1]?.split(", "),
  }));
  const tables = eventTables.map(({ name, columns }) => {
    return { name, sql: `FROM ${name}`, columns: [...columns.map((column) => column.name), "_PARTITIONDATE"] };
  });
  for (const { name, sql, columns } of [...answers, ...tables]) {
    const answer = await ask(connection, sql);
    assert.deepEqual(answer.columns, columns, name);
    for await (const rows of answer.rows) assert.deepEqual(rows, [], name);
  }
  assert.equal((await stats("--question", "hosts", "--data", folder)).stdout.split("\n").at(-2), "0 rows");
});

for (const rest of ['{"at":1764374400000,"url":"http://a.te', "{", "\u0000\u0000", "no JSON at all\n", "\n"])
  test(`a part that ends in ${JSON.stringify(rest)} is read up to there`, async (context) => {
    const folder = await given(context, twoDays, rest);
    assert.deepEqual(await rowsOf(folder, "SELECT COUNT(*) FROM attempts"), [[11]]);
    assert.deepEqual(await rowsOf(folder, "SELECT COUNT(url) FROM attempts WHERE day = '2026-11-30'"), [[3]]);
  });

test("events are seen while the crawl that writes them is still at it", async (context) => {
  const folder = await emptyFolder(context);
  const writing = { folder: join(folder, "events"), files: realFiles, clock: systemClock(), random: systemRandom() };
  const events = await fileEvents({ ...writing, durability: "process" });
  await events.publish("fetch", [twice]);
  assert.deepEqual(await rowsOf(folder, "SELECT url FROM attempts"), [["http://a.test/twice"]]);
  await events.publish("fetch", [twice, twice]);
  assert.deepEqual(await rowsOf(folder, "SELECT COUNT(*) FROM attempts"), [[3]]);
  await events.close();
});

test("a folder's name may hold what SQL and globs take for signs", async (context) => {
  const folder = join(await emptyFolder(context), "it's [1] *?");
  mkdirSync(join(folder, "events/skip/dt=2026-11-30"), { recursive: true });
  const line = eventLine("skip", { at: 1, hostKey: "h", reason: "scope", count: 5, samples: [] });
  writeFileSync(join(folder, "events/skip/dt=2026-11-30/part-x.ndjson"), `${line}\n`);
  assert.deepEqual(await rowsOf(folder, "SELECT refused FROM refusals"), [[5]]);
});

test("only questions are answered: no file is written, no other file read, no setting changed", async (context) => {
  const folder = await given(context, twoDays);
  const part = join(folder, "events/fetch/dt=2026-11-30/part-20261130T000000-abc.ndjson");
  const before = readFileSync(part, "utf8");
  writeFileSync(join(folder, "secret.txt"), "secret");
  const table: [sql: string, said: RegExp][] = [
    [`COPY (SELECT 1) TO '${part}'`, /only a SELECT/],
    [`COPY (SELECT 1) TO '${join(folder, "new.csv")}'`, /Permission|only a SELECT/],
    [`EXPLAIN ANALYZE COPY (SELECT 1) TO '${part}'`, /only a SELECT/],
    [`EXPORT DATABASE '${folder}/dump'`, /Permission|only a SELECT/],
    [`ATTACH '${folder}/new.db'`, /only a SELECT/],
    ["CREATE TABLE t AS SELECT 1", /only a SELECT/],
    ["DROP VIEW hosts", /only a SELECT/],
    ["SET enable_external_access = true", /only a SELECT/],
    ["INSTALL httpfs", /only a SELECT/],
    ["LOAD httpfs", /only a SELECT/],
    ["CALL enable_logging()", /only a SELECT/],
    ["SELECT 1; SELECT 2", /one SELECT is expected, not 2/],
    [`SELECT * FROM read_text('${join(folder, "secret.txt")}')`, /Permission: Cannot access file/],
    [`SELECT * FROM '${join(folder, "secret.csv")}'`, /Permission|Catalog|IO/],
    [`SELECT * FROM glob('${folder}/*')`, /Permission: Cannot access file/],
    [`SELECT * FROM query('COPY (SELECT 1) TO ''${part}''')`, /single SELECT/],
  ];
  const { connection, close } = await openStats(folder);
  context.after(close);
  for (const [sql, said] of table) {
    const fault = (error: Error): boolean => error instanceof UsageError && said.test(error.message);
    await assert.rejects(ask(connection, sql), fault, sql);
  }
  assert.equal(readFileSync(part, "utf8"), before);
  assert.deepEqual(readdirSync(folder).sort(), ["events", "secret.txt"]);
});

const faults: [sql: string, said: RegExp][] = [
  ["SELEC 1", /^Parser: syntax error at or near "SELEC" \(line 1, column 1\)$/],
  ["SELECT 'ä',\n  nobody\nFROM hosts", /^Binder: Referenced column "nobody" not found.*\(line 2, column 3\)$/s],
  ["SELECT 'ä', nobody FROM hosts", /\(line 1, column 13\)$/],
  ["SELECT * FROM host", /^Catalog: Table with name host does not exist!\s+Did you mean "hosts"\?.*\(line 1, column 15\)$/s],
  ["SELECT CAST(url AS INT64) FROM attempts", /^Conversion: Could not convert string 'http/],
  ["SELECT * FROM hosts WHERE", /^Parser: syntax error at end of input \(line 1, column 26\)$/],
  ["", /^one SELECT is expected, not 0 statements$/],
  ["/* nothing */", /^no SQL in "/],
];
test("what is wrong with the SQL is told in one line, with the place", async (context) => {
  const folder = await given(context, twoDays);
  const { connection, close } = await openStats(folder);
  context.after(close);
  for (const [sql, said] of faults) {
    const fault = (error: Error): boolean => error instanceof UsageError && said.test(error.message);
    const read = async (): Promise<void> => {
      for await (const _ of (await ask(connection, sql)).rows);
    };
    await assert.rejects(read, fault, sql);
  }
  const { code, stdout, stderr } = await stats("SELECT\n nobody FROM hosts", "--data", folder);
  assert.deepEqual([code, stdout], [exitCodes.badUsage, ""]);
  assert.match(stderr, /^stats: Binder: [^\n]*\(line 2, column 2\)\n$/);
});

test("BigQuery's functions that our queries use are there at home", async (context) => {
  const folder = await emptyFolder(context);
  const table: [expression: string, value: unknown][] = [
    ["TIMESTAMP_MILLIS(1764374400001)", "2025-11-29T00:00:00.001Z"],
    ["UNIX_MILLIS(TIMESTAMP_MILLIS(17))", 17],
    ["UNIX_MILLIS(CURRENT_TIMESTAMP()) > 1764374400000", true],
    ["CURRENT_DATE() >= DATE '2025-11-29'", true],
    ["CURRENT_TIMESTAMP = CURRENT_TIMESTAMP()", true],
    ["TIMESTAMP_SUB(TIMESTAMP '2026-03-01 00:00:00', INTERVAL 1 DAY)", "2026-02-28T00:00:00.000Z"],
    ["TIMESTAMP_ADD(TIMESTAMP '2026-03-01 00:00:00', INTERVAL 90 MINUTE)", "2026-03-01T01:30:00.000Z"],
    ["DATE_SUB(DATE '2026-03-01', INTERVAL 1 DAY)", "2026-02-28"],
    ["DATE_ADD(DATE '2026-02-28', INTERVAL 1 DAY)", "2026-03-01"],
    ["SAFE_DIVIDE(1, 0)", null],
    ["SAFE_DIVIDE(3, 2)", 1.5],
    ["SPLIT('a/b', '/')[SAFE_OFFSET(1)]", "b"],
    ["SPLIT('a/b', '/')[SAFE_OFFSET(2)]", null],
    ["REGEXP_CONTAINS('abc', 'b.$')", true],
    ["(SELECT APPROX_QUANTILES(x, 4)[SAFE_OFFSET(3)] FROM range(101) AS t(x))", 75],
    ["(SELECT COUNTIF(x > 97) FROM range(101) AS t(x))", 3],
  ];
  const rows = await rowsOf(folder, `SELECT ${table.map(([expression], place) => `${expression} AS c${place}`).join(", ")}`);
  assert.deepEqual(
    rows[0],
    table.map(([, value]) => value),
  );
});

test("an answer leaves no listener and no spill folder in the process", async (context) => {
  const folder = await emptyFolder(context);
  const held = () => [...(["exit", "SIGINT", "SIGTERM"] as const).map((name) => process.listenerCount(name as "exit"))];
  const before = held();
  const { connection, close } = await openStats(folder);
  const setting = await connection.runAndReadAll("SELECT current_setting('temp_directory')");
  const spill = String(setting.getRows()[0]![0]);
  assert.ok(existsSync(spill));
  close();
  assert.ok(!existsSync(spill));
  await stats("SELECT 1", "--data", folder);
  await stats("SELECT nobody", "--data", folder);
  assert.deepEqual(held(), before);
});

test("a table is aligned, numbers to the right, and says how many rows it leaves out", async (context) => {
  const folder = await emptyFolder(context);
  const sql = "SELECT n, CASE WHEN n < 12 THEN 'ä' || n END AS word, n % 2 = 0 AS even FROM range(9, 13) AS t(n)";
  const { stdout } = await stats(sql, "--rows", "3", "--data", folder);
  assert.equal(
    stdout,
    [
      " n  word  even",
      "--  ----  -----",
      " 9  ä9    false",
      "10  ä10   true",
      "11  ä11   false",
      "3 rows, 1 more row not shown (--rows, --csv, --json)",
      "",
    ].join("\n"),
  );
  const one = await stats("SELECT chr(27) || '[2J' AS a, NULL AS b, [1, 2] AS c", "--data", folder);
  assert.equal(one.stdout, "a     b  c\n----  -  -----\n\ufffd[2J  -  [1,2]\n1 row\n");
});

test("CSV and JSON hold all rows, or as many as asked for, with every kind of value", async (context) => {
  const folder = await emptyFolder(context);
  const of = async (sql: string, ...args: string[]) => (await stats(sql, ...args, "--data", folder)).stdout;
  assert.equal(await of(`SELECT 'a,"b' AS x, NULL AS y, 'l\nm' AS "z,"`, "--csv"), 'x,y,"z,"\n"a,""b",,"l\nm"\n');
  assert.equal((await of("FROM range(100)", "--csv")).split("\n").length, 102);
  assert.equal(await of("FROM range(3000)", "--csv", "--rows", "2"), "range\n0\n1\n");
  assert.equal(await of("FROM range(2)", "--json"), '[\n{"range":0},\n{"range":1}\n]\n');
  assert.equal(await of("SELECT 1 WHERE false", "--json"), "[]\n");
  const values: [sql: string, value: unknown][] = [
    ["9007199254740993", "9007199254740993"],
    ["1.25", 1.25],
    ["'NaN'::DOUBLE", "NaN"],
    ["DATE '2026-11-30'", "2026-11-30"],
    ["TIMESTAMPTZ '2026-11-30 00:00:00+00'", "2026-11-30T00:00:00.000Z"],
    ["TIMESTAMP 'infinity'", "infinity"],
    ["{'a': [1, NULL], 'b': {'c': true}}", { a: [1, null], b: { c: true } }],
    ["MAP {'k': 2}", { k: 2 }],
    ["INTERVAL 3 DAY", "3 days"],
  ];
  const all = `SELECT ${values.map(([sql], place) => `${sql} AS c${place}`).join(", ")}`;
  assert.deepEqual(
    Object.values((JSON.parse(await of(all, "--json")) as object[])[0]!),
    values.map(([, value]) => value),
  );
});

const usages: [args: string[], said: RegExp][] = [
  [[], /one SQL in quotes, --question or --schemas is expected/],
  [["SELECT 1", "SELECT 2"], /one SQL/],
  [["SELECT 1", "--question", "hosts"], /one SQL/],
  [["--question", "weather"], /one of duplicates, freshness, hosts, politeness, refusals, statuses, not 'weather'/],
  [["SELECT 1", "--csv", "--json"], /not both/],
  [["SELECT 1", "--rows", "-1"], /--rows/],
  [["SELECT 1", "--rows", "1e3"], /whole number, not '1e3'/],
  [["SELECT 1", "--colour"], /colour/],
];
for (const [args, said] of usages)
  test(`bad usage: ${args.join(" ") || "nothing"}`, async () => {
    const { code, stdout, stderr } = await stats(...args);
    assert.deepEqual([code, stdout], [exitCodes.badUsage, ""]);
    assert.match(stderr, said);
  });

test("where there is no crawl the code says so", async () => {
  const { code, stderr } = await stats("SELECT 1", "--data", join(tmpdir(), "gleaner-no-such-folder"));
  assert.equal(code, exitCodes.brokenStore);
  assert.match(stderr, /^stats: .*gleaner-no-such-folder holds no crawl/);
});

test("--schemas writes the files that Terraform reads", async (context) => {
  const folder = join(await emptyFolder(context), "below");
  assert.equal((await stats("--schemas", folder)).code, exitCodes.done);
  for (const [name, content] of Object.entries(tableFiles())) assert.equal(readFileSync(join(folder, name), "utf8"), content);
  writeFileSync(join(folder, "file"), "");
  const { code, stderr } = await stats("--schemas", join(folder, "file"));
  assert.equal(code, exitCodes.brokenStore);
  assert.match(stderr, /^stats: cannot write to /);
});

test("a query in BigQuery's text names only tables and views that stand before it", () => {
  const tables = eventTables.map(({ name }) => name);
  const base = sqlFiles("base");
  const views = sqlFiles("views");
  const named = (sql: string) => [...sql.matchAll(/\b(?:FROM|JOIN)\s+([^\s(]+)/g)].map(([, name]) => name!);
  const qualified = (known: readonly string[]) => known.map((name) => `\${dataset}.${name}`);
  for (const { name, sql } of base)
    for (const from of named(sql)) assert.ok(qualified(tables).includes(from), `${name}: ${from}`);
  const known = qualified([...tables, ...base.map(({ name }) => name)]);
  for (const { name, sql } of views) for (const from of named(sql)) assert.ok(known.includes(from), `${name}: ${from}`);
  for (const { name, sql } of [...base, ...views]) assert.match(sql, /^-- [A-Z].*\?/, name);
});

test("help and docs/analysts.md name every view and question", async () => {
  const { code, stdout } = await stats("--help");
  const page = readFileSync(join(import.meta.dirname, "../../docs/analysts.md"), "utf8");
  assert.equal(code, exitCodes.done);
  for (const { name } of [...sqlFiles("base"), ...sqlFiles("views"), ...sqlFiles("questions"), ...eventTables]) {
    assert.match(stdout, new RegExp(`\\b${name}\\b`));
    assert.match(page, new RegExp(`\\b${name}\\b`));
  }
});

test("the command answers on stdout, ends with its code and leaves nothing behind", async (context) => {
  const folder = await given(context, twoDays);
  const spill = await emptyFolder(context);
  const run = (...args: string[]) =>
    new Promise<[code: unknown, stdout: string, stderr: string]>((resolve) => {
      const options = { env: { ...process.env, TMPDIR: spill }, timeout: 20_000 };
      execFile(process.execPath, ["tools/stats.ts", ...args, "--data", folder], options, (error, stdout, stderr) =>
        resolve([error?.code ?? 0, stdout, stderr]),
      );
    });
  assert.deepEqual(await run("SELECT COUNT(*) AS n FROM attempts", "--csv"), [0, "n\n11\n", ""]);
  const [code, stdout, stderr] = await run("SELECT nobody");
  assert.deepEqual([code, stdout], [exitCodes.badUsage, ""]);
  assert.match(stderr, /^stats: Binder: .*\n$/);
  assert.deepEqual(readdirSync(spill), ["events"]);
});
