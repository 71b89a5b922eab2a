// Do a range's records, due entries and hosts agree? Looked through and mended while a crawl goes on: what is found is looked at once more first.
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { unmarked } from "../../../core/frontier/complete.ts";
import { withoutExpired } from "../../../core/politeness/host-clock.ts";
import { scanPages } from "../../../ports/versioned-table.ts";
import type { RepairKind } from "../../../schemas/daily/repair.ts";
import { dueKey, hostDueKey, type KeyRange, paceKeyOf, parseDueKey, type RowKey, rowKey } from "../../../schemas/row-key.ts";
import { dropDue, lowerHostDue, putDue } from "../../due-index.ts";
import { contentKey } from "../../fetch/store.ts";
import { patiently } from "../../patience.ts";
import { entryKey, standsBehind } from "../../repair.ts";
import { dryTables } from "../dry-tables.ts";
import { fewAtOnce } from "../few-at-once.ts";
import type { UrlRow } from "../host-runs.ts";
import { keyRange, rowsOf } from "../key-ranges.ts";
import type { DailyServices } from "../services.ts";
import { Findings, findings } from "./findings.ts";
import { firstLook } from "./first-look.ts";

type RepairServices = Pick<DailyServices, "tables" | "live" | "clock">;

/** `asOf`: the end of the day, Unix ms; a request is given up by it, and not by the clock. */
interface RepairConfig {
  day: string;
  asOf: number;
}

export const repairRange: DoFnDefinition<
  KeyRange,
  { findings: typeof findings },
  RepairConfig,
  RepairServices & Pick<DailyServices, "files">
> = {
  form: "each",
  name: "dailyRepairRange",
  input: keyRange,
  outputs: { findings },
  make: (config, services) => {
    const turn = fewAtOnce();
    return {
      process: (range, context) =>
        turn(async () => {
          const look = async () => repaired({ ...services, tables: dryTables(services.tables) }, range, config);
          const earlier = await firstLook(services.files, { day: config.day, part: range.part }, look);
          const found = await repaired(services, range, config);
          (earlier ?? found).emitTo(context);
        }),
    };
  },
};

async function repaired(services: RepairServices, range: KeyRange, { asOf }: RepairConfig): Promise<Findings> {
  const found = new Findings();
  await repairRecords(services, range, found);
  await repairEntries(services, range, found);
  await repairFlights(services, range, asOf, found);
  return found;
}

/** Found things are told once the store has taken what mends them: a try that fails tells nothing. */
type Told = [kind: RepairKind, sample: string, isMended: boolean][];

async function repairRecords(services: RepairServices, range: KeyRange, found: Findings): Promise<void> {
  const tell = async (look: () => Promise<Told>): Promise<void> => {
    for (const each of await patiently(services, look)) found.add(...each);
  };
  for await (const rows of rowsOf(services.tables.urls, range)) {
    const suspects = await patiently(services, () => suspectsAmong(services, rows));
    await tell(() => addMissing(services, suspects));
    for (const row of suspects) if (isUnfinished(row)) await tell(() => finishMarks(services, row));
    await tell(() => bodiless(services, rows));
  }
}

async function suspectsAmong({ tables }: RepairServices, rows: readonly UrlRow[]): Promise<UrlRow[]> {
  const entries = await tables.due.get(rows.map(({ key, value }) => entryKey(key, value)));
  const first = rows.filter((row, index) => entries[index] === undefined || isUnfinished(row));
  // A completion writes the record first, then moves its entry: whose record is another one by now was only met on its way.
  const again = await tables.urls.get(first.map(({ key }) => key));
  return first.filter(({ rev }, index) => again[index]?.rev === rev);
}

function isUnfinished({ value: { marks } }: UrlRow): boolean {
  return marks?.dueFrom !== undefined || marks?.index !== undefined;
}

async function addMissing(services: RepairServices, suspects: readonly UrlRow[]): Promise<Told> {
  const unmoved = suspects.filter(({ value }) => value.marks?.dueFrom === undefined);
  const wanted = unmoved.map(({ key, value }) => entryKey(key, value));
  const standing = await services.tables.due.get(wanted);
  const isMissing = (_: unknown, index: number) => standing[index] === undefined;
  await putDue(services, wanted.filter(isMissing).map(parseDueKey));
  return unmoved.filter(isMissing).map(({ value }) => ["due-missing", value.canonicalUrl, true]);
}

/**
 * A move of the due entry is done as whoever meets the mark does it. Index events are for the crawl to publish: where one waits, the former
 * entry is left, or put again, so that the host's next turn meets it, and by it the marks.
 */
async function finishMarks(services: RepairServices, { key, rev, value }: UrlRow): Promise<Told> {
  const { canonicalUrl, marks } = value;
  const publishes: Told = marks?.index === undefined ? [] : [["index-event-unfinished", canonicalUrl, false]];
  if (marks?.dueFrom === undefined) return publishes;
  const wanted = entryKey(key, value);
  const former = dueKey({ ...parseDueKey(wanted), ...marks.dueFrom });
  await putDue(services, [wanted, ...(marks.index === undefined ? [] : [former])].map(parseDueKey));
  if (marks.index !== undefined) return [...publishes, ["due-move-unfinished", canonicalUrl, false]];
  if (former !== wanted) await dropDue(services, [former]);
  const cleared = await services.tables.urls.compareAndSet(key, unmarked(value, ["dueFrom"]), rev);
  // Whoever wrote the record in between has done it.
  return cleared === undefined ? [] : [["due-move-unfinished", canonicalUrl, true]];
}

async function bodiless({ tables }: RepairServices, rows: readonly UrlRow[]): Promise<Told> {
  const kept = rows.flatMap(({ value: { canonicalUrl, contentHash } }) =>
    contentHash === undefined ? [] : [{ canonicalUrl, hash: contentKey(contentHash) }],
  );
  const references = await tables.content.get(kept.map(({ hash }) => hash));
  return kept
    .filter((_, index) => references[index] === undefined)
    .map(({ canonicalUrl }) => ["url-without-reference", canonicalUrl, false]);
}

const PAGE = 1_000; // entries of one scan
const HOSTS_AT_ONCE = 1_000; // whose turns are looked up together, some 200 B each

const LOWERED_AT_ONCE = 64; // that share a commit

/** The first of a host's entries by time, among those that stand. */
interface FirstDue {
  paceKey: string;
  dueAt: number;
  key: RowKey;
}

/** The entry is read before its record: one that was put after its record was written never looks as if none stood behind it. */
async function repairEntries(services: RepairServices, range: KeyRange, found: Findings): Promise<void> {
  let firsts: FirstDue[] = [];
  const { from, to } = range;
  for await (const rows of scanPages(services.tables.due, { from, to, limit: PAGE })) {
    const keys = rows.map(({ key }) => key);
    const stale = await patiently(services, () => staleAmong(services, keys));
    for (const each of await patiently(services, () => dropStale(services, stale))) found.add(...each);
    for (const key of keys) {
      if (stale.has(key)) continue;
      const { paceKey, dueAt } = parseDueKey(key);
      const last = firsts.at(-1);
      if (last?.paceKey === paceKey) {
        if (dueAt < last.dueAt) Object.assign(last, { dueAt, key });
        continue;
      }
      if (firsts.length === HOSTS_AT_ONCE) {
        await repairTurns(services, firsts, found);
        firsts = [];
      }
      firsts.push({ paceKey, dueAt, key });
    }
  }
  await repairTurns(services, firsts, found);
}

/** With whether it has a record at all. */
async function staleAmong({ tables }: RepairServices, keys: readonly RowKey[]): Promise<Map<RowKey, boolean>> {
  const records = await tables.urls.get(keys.map(recordKey));
  const stale = new Map<RowKey, boolean>();
  for (const [index, key] of keys.entries()) {
    const record = records[index]?.value;
    if (!standsBehind(record, parseDueKey(key))) stale.set(key, record !== undefined);
  }
  return stale;
}

async function dropStale(services: RepairServices, stale: ReadonlyMap<RowKey, boolean>): Promise<Told> {
  const { urls, due } = services.tables;
  const suspects = [...stale.keys()];
  const standing = await due.get(suspects);
  await dropDue(services, suspects);
  // A record that came to call for the entry while we dropped it gets it again; one that does so from now on puts it itself.
  const records = await urls.get(suspects.map(recordKey));
  const isWanted = suspects.map((key, index) => standsBehind(records[index]?.value, parseDueKey(key)));
  await putDue(services, suspects.filter((_, index) => isWanted[index]).map(parseDueKey));
  return suspects
    .filter((_, index) => standing[index] !== undefined && !isWanted[index])
    .map((key) => [stale.get(key) ? "due-outdated" : "due-without-url", key, true]);
}

/** The sweeps of their shards are to find the hosts when their entries are due. */
async function repairTurns(services: RepairServices, hosts: readonly FirstDue[], found: Findings): Promise<void> {
  const { hostDue, due } = services.tables;
  const { sweepShards } = services.live.now();
  const turns = await patiently(services, () => hostDue.get(hosts.map(({ paceKey }) => hostDueKey(paceKey, sweepShards))));
  const late = hosts.filter(({ dueAt }, index) => !(turns[index] !== undefined && turns[index].value.nextDueAt <= dueAt));
  const still = await patiently(services, () => due.get(late.map(({ key }) => key)));
  const lost = late.filter((_, index) => still[index] !== undefined); // the others have had their turn meanwhile
  for (let at = 0; at < lost.length; at += LOWERED_AT_ONCE) {
    const lower = ({ paceKey, dueAt }: FirstDue) =>
      patiently(services, () => lowerHostDue(hostDue, paceKey, sweepShards, dueAt));
    await Promise.all(lost.slice(at, at + LOWERED_AT_ONCE).map(lower));
  }
  for (const { paceKey } of lost) found.add("host-without-turn", paceKey, true);
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

function recordKey(key: RowKey): RowKey {
  const { paceKey, urlId } = parseDueKey(key);
  return rowKey(paceKey, urlId);
}
