// Where does a record stand? Keys of the versioned tables: two hex digits of the pace key's hash, the pace key, the record's own key.
import { hash } from "node:crypto";

/** Separates the parts; no pace key, URL id or time contains it. */
const SEPARATOR = "/";

export type RowKey = string;

/** The first two hex digits spread the hosts over the key space; a host's rows lie together. */
function hostPrefix(paceKey: string): string {
  return `${spread(paceKey)}${SEPARATOR}${paceKey}${SEPARATOR}`;
}

export function rowKey(paceKey: string, own = ""): RowKey {
  return hostPrefix(paceKey) + own;
}

/** The pace key in a row key. */
export function paceKeyOf(key: RowKey): string {
  return key.split(SEPARATOR, 2)[1] ?? "";
}

/** The first key that is greater than every key with this prefix. */
export function afterPrefix(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

const spreads = new Map<string, string>();
const SPREADS_MAX = 50_000; // pace keys whose digits are remembered

function spread(paceKey: string): string {
  let digits = spreads.get(paceKey);
  if (digits === undefined) {
    digits = hash("sha256", paceKey).slice(0, 2);
    if (spreads.size >= SPREADS_MAX) spreads.clear();
    spreads.set(paceKey, digits);
  }
  return digits;
}

/** An entry of the due index; nothing but its key, the URL record settles the rest. */
export interface DueEntry {
  paceKey: string;
  /** 0 most urgent … 3. */
  priority: number;
  /** Unix ms. */
  dueAt: number;
  urlId: string;
}

const TIME_DIGITS = 14; // Unix ms up to the year 5138

/** All entries of one class of a host begin with this. */
export function duePrefix(paceKey: string, priority: number): string {
  return `${hostPrefix(paceKey)}${priority}${SEPARATOR}`;
}

export function dueKey(entry: DueEntry): RowKey {
  return `${duePrefix(entry.paceKey, entry.priority)}${String(entry.dueAt).padStart(TIME_DIGITS, "0")}${SEPARATOR}${entry.urlId}`;
}

export function parseDueKey(key: RowKey): DueEntry {
  const [, paceKey, priority, dueAt, urlId] = key.split(SEPARATOR);
  return { paceKey: paceKey ?? "", priority: Number(priority), dueAt: Number(dueAt), urlId: urlId ?? "" };
}

/** HostDue stands by shard, so that one sweep reads one run of rows. */
export function hostDueKey(paceKey: string, shards: number): RowKey {
  return `${shardPrefix(shardOf(paceKey, shards))}${paceKey}`;
}

export function shardPrefix(shard: number): string {
  return `${shard.toString(16).padStart(4, "0")}${SEPARATOR}`;
}

function shardOf(paceKey: string, shards: number): number {
  return Number.parseInt(hash("sha256", paceKey).slice(4, 8), 16) % shards;
}

export function paceKeyOfHostDue(key: RowKey): string {
  return key.slice(key.indexOf(SEPARATOR) + 1);
}
