// How small could the URL record be? The shape that docs/capacity.md proposes, written with the codecs of today to measure it; nothing uses it.
import { bool, type Codec, encode, list, oneOf, optional, struct, text, uint } from "../../../schemas/codec.ts";
import { outcomes } from "../../../schemas/reasons.ts";
import type { UrlState } from "../../../schemas/url-state.ts";

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;
const DAY_MS = 24 * HOUR_MS;

/** So many bytes, without a length before them. */
const fixed = (size: number): Codec<Uint8Array> => ({
  shape: { kind: "bytes" },
  write(writer, value) {
    // The writer has no such call: a digit of the size is one byte, as each of these would be.
    for (let at = 0; at < size; at++) writer.uint((value[at] ?? 0) & 0x7f);
  },
  read: () => new Uint8Array(size),
  fault: () => undefined,
});

/** Where a field has its usual value, its bit in the mask is all that it takes. */
const proposed = struct({
  canonicalUrl: text, // "s" or "p" for https:// or http:// and the pace key, which the row key holds; the collision check compares it: no `check`
  sitemap: optional(bool),
  version: uint,
  docVersion: optional(uint), // where it is not the version
  depth: uint,
  hops: optional(uint),
  priority: uint,
  discoveredDay: uint,
  nextFetchAt: uint, // ms: the due entry's key is made of it
  failureCount: optional(uint),
  lastOutcome: optional(oneOf(outcomes)),
  lastStatus: optional(uint), // where the outcome does not say it
  lastReason: optional(text),
  lastFetchBefore: optional(uint), // seconds before nextFetchAt
  lastLease: optional(fixed(8)), // 64 bits of the 128: it tells a repeat from another lease of the same version
  etag: optional(text),
  lastModifiedAt: optional(uint), // seconds, where the header is what these seconds print as; else the text
  lastModified: optional(text),
  contentHash: optional(fixed(20)), // 160 bits of the 256
  simHash: optional(fixed(8)),
  linkSetHash: optional(fixed(8)),
  indexed: optional(bool),
  visits: optional(list(uint)), // hours since the one before, doubled, and one more where the content had changed
});

const USUAL_STATUS: Readonly<Record<string, number>> = { fetched: 200, unchanged: 304, gone: 404 };

export function proposedBytes(record: UrlState): number {
  return encode(proposed, slim(record)).length;
}

function slim(record: UrlState) {
  const { lastOutcome, lastStatus, lastReason, lastFetchAt, lastLeaseId, etag, lastModified, changeHistory } = record;
  const seconds = lastModified === undefined ? Number.NaN : Date.parse(lastModified) / SECOND_MS;
  const plainDate = lastModified !== undefined && new Date(seconds * SECOND_MS).toUTCString() === lastModified;
  const given = {
    canonicalUrl: shortened(record.canonicalUrl),
    sitemap: record.kind === "sitemap" || undefined,
    version: record.version,
    docVersion: record.docVersion === record.version ? undefined : record.docVersion,
    depth: record.depth,
    hops: record.hops || undefined,
    priority: record.priority,
    discoveredDay: Math.floor(record.discoveredAt / DAY_MS),
    nextFetchAt: record.nextFetchAt,
    failureCount: record.failureCount || undefined,
    lastOutcome,
    lastStatus: lastStatus === USUAL_STATUS[lastOutcome ?? ""] ? undefined : lastStatus,
    lastReason,
    lastFetchBefore:
      lastFetchAt === undefined ? undefined : Math.max(0, Math.ceil((record.nextFetchAt - lastFetchAt) / SECOND_MS)),
    lastLease: lastLeaseId === undefined ? undefined : Buffer.from(lastLeaseId, "base64url"),
    etag,
    lastModifiedAt: plainDate ? seconds : undefined,
    lastModified: plainDate ? undefined : lastModified,
    contentHash: record.contentHash,
    simHash: record.simHash,
    linkSetHash: record.linkSetHash,
    indexed: record.indexed,
    visits: changeHistory?.map(({ afterMs, changed }) => Math.round(afterMs / HOUR_MS) * 2 + (changed ? 1 : 0)),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Parameters<
    typeof proposed.write
  >[1];
}

function shortened(url: string): string {
  const { host } = new URL(url === "" ? "https://none.test" : url);
  return url.replace(`https://${host}`, "s").replace(`http://${host}`, "p");
}
