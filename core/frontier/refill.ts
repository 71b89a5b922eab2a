// Which URLs join the ready queue? Due entries are hints: the URL record settles version and due time, and what disagrees is deleted.
import { limits } from "../../schemas/limits.ts";
import { afterPrefix, duePrefix, parseDueKey, type RowKey } from "../../schemas/row-key.ts";
import { priorityClasses, type UrlState } from "../../schemas/url-state.ts";
import { hostKeyOf } from "../url/keys.ts";
import type { FrontierState, ReadyUrl } from "./state.ts";

export interface ScanRange {
  from: RowKey;
  to: RowKey;
  limit: number;
}

/** One short scan a class, from its cursor on; the first entry that is not due yet tells the next due time. */
export function refillScans(state: FrontierState, paceKey: string): ScanRange[] {
  const limit = Math.max(1, limits.readyUrls - state.ready.length) + 1;
  return priorityClasses.map((priority) => {
    const prefix = duePrefix(paceKey, priority);
    const cursor = state.cursors[priority] ?? "";
    return { from: cursor === "" ? prefix : `${cursor}\u0000`, to: afterPrefix(prefix), limit };
  });
}

/**
 * When a refill that found nothing behind its cursors may begin again at the head, Unix ms: at once, but where URLs of blocked host keys
 * fill the index, which a pass reads and does not take. What is blocked for long is passed over less often.
 */
export function nextPassAt({ blocked, cursorsResetAt }: FrontierState): number {
  if (blocked.length === 0) return 0;
  const blockedMs = Math.min(...blocked.map(({ until }) => until)) - cursorsResetAt;
  return cursorsResetAt + Math.min(limits.blockedPassMsMax, Math.max(limits.blockedPassMs, blockedMs / PASSES));
}

const PASSES = 16; // while a host key is blocked, for what its host has of others

export interface Taken {
  key: RowKey;
  urlId: string;
  priority: number;
  dueAt: number;
}

export interface Selection {
  /** Entries that are due and fit, most urgent first; their URL records are to be read. */
  taken: Taken[];
  cursors: string[];
  nextDueAt: number;
}

/** `scans[class]` are the keys that the scan of that class gave, in order. */
export function select(state: FrontierState, scans: readonly (readonly RowKey[])[], limit: number, now: number): Selection {
  const known = new Set([...state.ready.map((url) => url.urlId), ...state.leases.map((lease) => lease.urlId)]);
  const taken: Taken[] = [];
  const cursors = [...state.cursors];
  let room = limits.readyUrls - state.ready.length;
  let nextDueAt = Number.MAX_SAFE_INTEGER;
  for (const [priority, keys] of scans.entries()) {
    let read = 0;
    for (const key of keys) {
      const { dueAt, urlId } = parseDueKey(key);
      if (dueAt > now || room === 0) {
        nextDueAt = Math.min(nextDueAt, dueAt);
        break;
      }
      read++;
      cursors[priority] = key;
      if (known.has(urlId)) continue;
      known.add(urlId);
      taken.push({ key, urlId, priority, dueAt });
      room--;
    }
    if (read === keys.length && keys.length >= limit) nextDueAt = Math.min(nextDueAt, now); // the scan was cut: more may be due
  }
  return { taken, cursors, nextDueAt };
}

/** The state with the selected URLs whose records agree, the due entries that no record stands behind, and the places of records whose marks are to be finished first. */
export function refilled(
  state: FrontierState,
  selection: Selection,
  records: readonly (UrlState | undefined)[],
): { state: FrontierState; stale: RowKey[]; unfinished: number[] } {
  const ready: ReadyUrl[] = [...state.ready];
  const stale: RowKey[] = [];
  const unfinished: number[] = [];
  for (const [index, entry] of selection.taken.entries()) {
    const record = records[index];
    if (record?.marks?.dueFrom !== undefined) {
      unfinished.push(index); // its new entry may not stand yet: dropping the old one now would lose the URL
      continue;
    }
    if (record === undefined || record.nextFetchAt !== entry.dueAt || record.priority !== entry.priority) {
      stale.push(entry.key);
      continue;
    }
    const hostKey = hostKeyOf(record.canonicalUrl);
    if (state.blocked.some((each) => each.hostKey === hostKey)) continue;
    ready.push({
      urlId: entry.urlId,
      url: record.canonicalUrl,
      hostKey,
      kind: record.kind,
      version: record.version,
      priority: record.priority,
      dueAt: record.nextFetchAt,
      attempt: record.failureCount,
    });
  }
  ready.sort((a, b) => a.priority - b.priority || a.dueAt - b.dueAt || (a.urlId < b.urlId ? -1 : 1));
  return { state: { ...state, ready, cursors: selection.cursors, nextDueAt: selection.nextDueAt }, stale, unfinished };
}
