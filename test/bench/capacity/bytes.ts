// How large is a URL's record through its life, and where do its bytes go? Key and value at a URL of 80 B, the due entry beside it.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Completion, complete, unmarked } from "../../../core/frontier/complete.ts";
import { systemRandom } from "../../../io/random.ts";
import { openSqliteStore } from "../../../io/stores/sqlite-store.ts";
import { encode } from "../../../schemas/codec.ts";
import { dueKey, rowKey } from "../../../schemas/row-key.ts";
import { type UrlState, urlState } from "../../../schemas/url-state.ts";
import { namesOf, paceKeyOfNumber, printTable, recordOf, START, say, URL_BYTES, urlOfNumber } from "./given.ts";

const LEASE_ID = systemRandom().token().slice(0, 12); // as transforms/host-frontier.ts draws it
const STORED_ROWS = 100_000;

export async function benchBytes(): Promise<void> {
  const stages = lifeStages();
  const names = namesOf(URL_SHOWN);
  const key = Buffer.byteLength(KEY);
  const due = Buffer.byteLength(dueKey({ ...names, priority: 1, dueAt: START }));
  say(
    `bytes: URL ${URL_BYTES} B, pace key ${names.paceKey.length} B; row key ${key} B, rev 22 B, due entry ${due} B (key alone)`,
  );
  printTable(
    ["stage", "value", "key + value", "+ rev", "+ due entry and its rev"],
    stages.map(([stage, record]) => {
      const value = sizeOf(record);
      return [stage, value, key + value, key + value + 22, key + value + 22 + due + 22];
    }),
  );
  say(`\nwhere the bytes go: ${stages[SHOWN]![0]}, the row key's ${key} B aside`);
  printTable(["fields", "bytes"], fieldRows(stages[SHOWN]![1]));
  say(`\non disk, SQLite as it stands, ${STORED_ROWS} rows in the order of discovery, B a row`);
  printTable(["table", "row as counted above", "file", "overhead"], await onDisk(stages));
}

const SHOWN = 3;
const URL_SHOWN = urlOfNumber(123_456, 7);
const KEY = rowKey(namesOf(URL_SHOWN).paceKey, namesOf(URL_SHOWN).urlId);

const sizeOf = (record: UrlState): number => encode(urlState, record, KEY).length;

/** Records as core/frontier/complete.ts makes them, each once its marks are done. */
function lifeStages(): [stage: string, record: UrlState][] {
  const discovered = recordOf(URL_SHOWN);
  const bare = { etag: undefined, lastModified: undefined };
  const visits = (count: number, given: object): UrlState => {
    let record = discovered;
    for (let visit = 0; visit < count; visit++) record = visited(record, fetched(visit % 3 === 0 ? visit : visit - 1, given));
    return record;
  };
  return [
    ["discovered", discovered],
    ["fetched once", visits(1, bare)],
    ["fetched once, both validators", visits(1, {})],
    ["four visits, both validators", visits(4, {})],
    ["four visits, ETag alone", visits(4, { lastModified: undefined })],
    ["four visits, no validator", visits(4, bare)],
    ["twenty visits, both validators", visits(20, {})],
    ["redirect", visited(discovered, { outcome: "redirect", status: 301 })],
    ["gone", visited(discovered, { outcome: "gone", status: 404 })],
    ["gone after four visits", visited(visits(4, {}), { outcome: "gone", status: 404 })],
    ["failed twice", visited(visited(discovered, failure), failure)],
  ];
}

const failure: Completion = { outcome: "failed", reason: "timeout" };

function visited(before: UrlState, completion: Completion): UrlState {
  const at = before.nextFetchAt + 1_234_567;
  const { after } = complete(before, LEASE_ID, { sentAt: at - 700, ...completion }, at);
  return unmarked(after, ["dueFrom", "index"]);
}

function fetched(content: number, given: object): Completion {
  const hash = Buffer.alloc(20, content + 1);
  const kept = { hash, simHash: "0123456789abcdef", linkSetHash: hash.subarray(0, 8), indexable: true, reparse: false };
  const validators = { etag: '"5e8b2a4c-1f40"', lastModified: "Sat, 15 Nov 2025 12:45:26 GMT", ...given };
  const present = Object.fromEntries(Object.entries(validators).filter(([, value]) => value !== undefined));
  return { outcome: "fetched", status: 200, content: kept, ...present };
}

/** What a record loses without a field, and what is left of it then: a zero or a length of nothing. */
const parts: [fields: string, without: { [name in keyof UrlState]?: UrlState[name] | undefined }, left: number][] = [
  ["canonicalUrl", { canonicalUrl: `https://${namesOf(URL_SHOWN).paceKey}/` }, 2],
  ["contentHash", { contentHash: undefined }, 0],
  ["simHash, linkSetHash", { simHash: undefined, linkSetHash: undefined }, 0],
  ["nextFetchAt, discoveredAt, lastFetchAt", { nextFetchAt: 0, discoveredAt: 0, lastFetchAt: undefined }, 2],
  ["etag", { etag: undefined }, 0],
  ["lastLeaseId", { lastLeaseId: undefined }, 0],
  ["changeHistory", { changeHistory: undefined }, 0],
  ["lastModified", { lastModified: undefined }, 0],
  ["lastOutcome, lastStatus", { lastOutcome: undefined, lastStatus: undefined }, 0],
];

function fieldRows(record: UrlState): (string | number)[][] {
  const whole = sizeOf(record);
  const rows = parts.map(([fields, without, left]): [string, number] => {
    const less = Object.fromEntries(Object.entries({ ...record, ...without }).filter(([, value]) => value !== undefined));
    return [fields, whole - sizeOf(less as UrlState) + left];
  });
  const rest = rows.reduce((sum, [, size]) => sum - size, whole);
  return [...rows, ["version byte, mask, and the small numbers", rest]];
}

async function onDisk(stages: [string, UrlState][]): Promise<(string | number)[][]> {
  const rows: (string | number)[][] = [];
  for (const [name, record] of [stages[0]!, stages[SHOWN]!]) {
    const { counted, file } = await stored((paceKey, urlId, url) => {
      const key = rowKey(paceKey, urlId);
      return { key, value: encode(urlState, { ...record, canonicalUrl: url }, key) };
    });
    rows.push([`urls, ${name}`, counted.toFixed(0), file.toFixed(0), `${(100 * (file / counted - 1)).toFixed(0)} %`]);
  }
  const { counted, file } = await stored((paceKey, urlId) => ({
    key: dueKey({ paceKey, urlId, priority: 1, dueAt: START }),
    value: new Uint8Array(),
  }));
  rows.push(["due", counted.toFixed(0), file.toFixed(0), `${(100 * (file / counted - 1)).toFixed(0)} %`]);
  return rows;
}

type RowOf = (paceKey: string, urlId: string, url: string) => { key: string; value: Uint8Array };

/** 1,000 hosts take turns, as links lead from one to another. */
async function stored(rowOf: RowOf): Promise<{ counted: number; file: number }> {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-bench-"));
  const store = await openSqliteStore({ folder, tables: ["rows"], queues: [], durability: "process" });
  const random = systemRandom();
  let counted = 0;
  for (let from = 0; from < STORED_ROWS; from += 1_000) {
    const rows = Array.from({ length: 1_000 }, (_, host) => {
      const url = urlOfNumber(host, from / 1_000);
      const row = rowOf(paceKeyOfNumber(host), namesOf(url).urlId, url);
      counted += row.key.length + row.value.length + 22;
      return { ...row, rev: random.token() };
    });
    await store.table("rows").insertIfAbsent(rows);
  }
  await store.close();
  const file = statSync(join(folder, "state.sqlite")).size;
  rmSync(folder, { recursive: true, force: true });
  return { counted: counted / STORED_ROWS, file: file / STORED_ROWS };
}
