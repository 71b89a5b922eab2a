// Do a range's records, due entries and hosts agree? Looked through and mended while a crawl goes on: what is found is looked at once more first.
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { unmarked } from "../../../core/frontier/complete.ts";
import { withoutExpired } from "../../../core/politeness/host-clock.ts";
import { scanPages } from "../../../ports/versioned-table.ts";
import type { RepairKind } from "../../../schemas/daily/repair.ts";
import { dueKey, hostDueKey, type KeyRange, paceKeyOf, parseDueKey, type RowKey, rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { dropDue, lowerHostDue, putDue } from "../../due-index.ts";
import { contentKey } from "../../fetch/store.ts";
import { patiently } from "../../patience.ts";
import { fewAtOnce } from "../few-at-once.ts";
import type { UrlRow } from "../host-runs.ts";
import { keyRange, rowsOf } from "../key-ranges.ts";
import type { DailyServices } from "../services.ts";
import { Findings, findings } from "./findings.ts";

type RepairServices = Pick<DailyServices, "tables" | "live" | "clock">;

/** Config: the end of the day; a request is given up by it, and not by the clock. */
export const repairRange: DoFnDefinition<KeyRange, { findings: typeof findings }, { asOf: number }, RepairServices> = {
  form: "each",
  name: "dailyRepairRange",
  input: keyRange,
  outputs: { findings },
  make: ({ asOf }, services) => {
    const turn = fewAtOnce();
    return {
      process: (range, context) =>
        turn(async () => {
          const found = new Findings();
          for await (const rows of rowsOf(services.tables.urls, range))
            await patiently(services, () => repairRecords(services, rows, found));
          await repairEntries(services, range, found);
          await repairFlights(services, range, asOf, found);
          found.emitTo(context);
        }),
    };
  },
};

const PAGE = 1_000; // rows of one scan

/** Found things are told once the store has taken what mends them: a try that fails tells nothing. */
type Told = [kind: RepairKind, sample: string, isMended: boolean][];

async function repairRecords(services: RepairServices, rows: readonly UrlRow[], found: Findings): Promise<void> {
  const { urls, due, content } = services.tables;
  const told: Told = [];
  const entries = await due.get(rows.map(({ key, value }) => entryKey(key, value)));
  const suspects = rows.filter(({ value }, index) => entries[index] === undefined || isUnfinished(value));
  // A completion writes the record first, then moves its entry: whose record is another one by now was only met on its way.
  const again = await urls.get(suspects.map(({ key }) => key));
  for (const [index, { key, rev, value }] of suspects.entries()) {
    if (again[index]?.rev !== rev) continue;
    if (value.marks?.index !== undefined) told.push(["index-event-unfinished", value.canonicalUrl, false]);
    if (value.marks?.dueFrom !== undefined) {
      if (await finishMove(services, { key, rev, value })) told.push(["due-move-unfinished", value.canonicalUrl, true]);
    } else if ((await due.get([entryKey(key, value)]))[0] === undefined) {
      await putDue(services, [parseDueKey(entryKey(key, value))]);
      told.push(["due-missing", value.canonicalUrl, true]);
    }
  }
  const kept = rows.flatMap(({ value }) => (value.contentHash === undefined ? [] : [value]));
  const references = await content.get(kept.map(({ contentHash }) => contentKey(contentHash!)));
  for (const [index, { canonicalUrl }] of kept.entries())
    if (references[index] === undefined) told.push(["url-without-reference", canonicalUrl, false]);
  for (const each of told) found.add(...each);
}

function isUnfinished({ marks }: UrlState): boolean {
  return marks?.dueFrom !== undefined || marks?.index !== undefined;
}

/** As whoever meets the mark does it; false where somebody has, in between. */
async function finishMove(services: RepairServices, { key, rev, value }: UrlRow): Promise<boolean> {
  const { dueFrom } = value.marks!;
  const wanted = entryKey(key, value);
  const former = dueKey({ ...parseDueKey(wanted), ...dueFrom! });
  await putDue(services, [parseDueKey(wanted)]);
  if (former !== wanted) await dropDue(services, [former]);
  return (await services.tables.urls.compareAndSet(key, unmarked(value, ["dueFrom"]), rev)) !== undefined;
}

/** The first of a host's entries by time, among those that stand. */
interface FirstDue {
  paceKey: string;
  dueAt: number;
  key: RowKey;
}

/** The entry is read before its record: one that was put after its record was written never looks as if none stood behind it. */
async function repairEntries(services: RepairServices, range: KeyRange, found: Findings): Promise<void> {
  let first: FirstDue | undefined;
  for await (const rows of scanPages(services.tables.due, { from: range.from, to: range.to, limit: PAGE })) {
    const dropped = await patiently(services, () => dropStale(services, rows, found));
    for (const { key } of rows) {
      if (dropped.has(key)) continue;
      const { paceKey, dueAt } = parseDueKey(key);
      if (first !== undefined && first.paceKey !== paceKey) await repairTurn(services, first, found);
      if (first?.paceKey !== paceKey || dueAt < first.dueAt) first = { paceKey, dueAt, key };
    }
  }
  if (first !== undefined) await repairTurn(services, first, found);
}

async function dropStale(services: RepairServices, rows: readonly { key: RowKey }[], found: Findings): Promise<Set<RowKey>> {
  const { urls, due } = services.tables;
  const records = await urls.get(rows.map(({ key }) => recordKey(key)));
  const stale = rows.flatMap(({ key }, index) => {
    const record = records[index]?.value;
    return standsBehind(record, key) ? [] : [{ key, isKnown: record !== undefined }];
  });
  const still = await due.get(stale.map(({ key }) => key));
  const dropped = stale.filter((_, index) => still[index] !== undefined);
  await dropDue(
    services,
    dropped.map(({ key }) => key),
  );
  for (const { key, isKnown } of dropped) found.add(isKnown ? "due-outdated" : "due-without-url", key, true);
  return new Set(stale.map(({ key }) => key));
}

/** The entry that a completion is about to replace leads others to its marks, should it not come to its end. */
function standsBehind(record: UrlState | undefined, key: RowKey): boolean {
  if (record === undefined) return false;
  const { priority, dueAt } = parseDueKey(key);
  const { dueFrom } = record.marks ?? {};
  const isOf = (of: { priority: number; dueAt: number }) => of.priority === priority && of.dueAt === dueAt;
  return isOf({ priority: record.priority, dueAt: record.nextFetchAt }) || (dueFrom !== undefined && isOf(dueFrom));
}

/** The sweep of its shard is to find the host when the entry is due. */
async function repairTurn(services: RepairServices, { paceKey, dueAt, key }: FirstDue, found: Findings): Promise<void> {
  const { hostDue, due } = services.tables;
  const { sweepShards } = services.live.now();
  const [row] = await patiently(services, () => hostDue.get([hostDueKey(paceKey, sweepShards)]));
  if (row !== undefined && row.value.nextDueAt <= dueAt) return;
  const [still] = await patiently(services, () => due.get([key]));
  if (still === undefined) return; // its host has had its turn meanwhile
  await patiently(services, () => lowerHostDue(hostDue, paceKey, sweepShards, dueAt));
  found.add("host-without-turn", paceKey, true);
}

/** A request that is given up counts as an answer that nobody heard: whoever reads the record takes it so, and now it says so. */
async function repairFlights(services: RepairServices, range: KeyRange, asOf: number, found: Findings): Promise<void> {
  const { clockSkewMs } = services.live.now();
  const { hosts } = services.tables;
  for await (const rows of rowsOf(hosts, range))
    for (const { key, rev, value } of rows) {
      const after = withoutExpired(value, asOf, clockSkewMs);
      if (after === value) continue;
      const written = await patiently(services, () => hosts.compareAndSet(key, after, rev));
      // Who wrote the record in between has taken them out as well.
      if (written !== undefined) found.add("flight-expired", paceKeyOf(key), true);
    }
}

function entryKey(key: RowKey, { priority, nextFetchAt }: UrlState): RowKey {
  const paceKey = paceKeyOf(key);
  return dueKey({ paceKey, urlId: key.slice(rowKey(paceKey).length), priority, dueAt: nextFetchAt });
}

function recordKey(key: RowKey): RowKey {
  const { paceKey, urlId } = parseDueKey(key);
  return rowKey(paceKey, urlId);
}
