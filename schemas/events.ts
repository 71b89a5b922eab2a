// What analysts and index builders are told: one JSON object a line, each with the same shape for ever (new fields are optional).
import { bool, list, oneOf, optional, struct, type TypeOf, text, uint } from "./codec.ts";
import { leaseKinds } from "./host-state.ts";
import { outcomes } from "./reasons.ts";

/** One attempt at one URL, whether it was answered or not. */
export const fetchEvent = struct({
  /** Unix ms of sending; of the decision where nothing was sent. */
  at: uint,
  url: text,
  urlId: text,
  hostKey: text,
  paceKey: text,
  kind: oneOf(leaseKinds),
  leaseId: text,
  version: uint,
  outcome: oneOf(outcomes),
  status: optional(uint),
  reason: optional(text),
  /** The address connected to. */
  address: optional(text),
  contentType: optional(text),
  /** Body bytes before and after decoding. */
  wireBytes: optional(uint),
  bodyBytes: optional(uint),
  /** Sending to first byte, and to the end. */
  latencyMs: optional(uint),
  durationMs: optional(uint),
  contentHash: optional(text),
  segment: optional(text),
  offset: optional(uint),
  redirectTo: optional(text),
  links: optional(uint),
  /** When the URL was due, Unix ms, and its class in the due index; of pages and sitemaps that were asked for. */
  dueAt: optional(uint),
  priority: optional(uint),
});
export type FetchEvent = TypeOf<typeof fetchEvent>;

/** One new document version, or the end of one. At least once; (urlId, docVersion) is the key. */
export const indexEvent = struct({
  at: uint,
  urlId: text,
  docVersion: uint,
  op: oneOf(["upsert", "delete"]),
  url: text,
  contentHash: optional(text),
  segment: optional(text),
  offset: optional(uint),
  length: optional(uint),
});
export type IndexEvent = TypeOf<typeof indexEvent>;

/** Refusals before a lease, counted per bundle by host and reason, with up to three samples; and unfetched leases. */
export const skipEvent = struct({
  at: uint,
  hostKey: text,
  reason: text,
  count: uint,
  samples: list(text),
  source: optional(text),
});
export type SkipEvent = TypeOf<typeof skipEvent>;

export const eventShapes = { fetch: fetchEvent, index: indexEvent, skip: skipEvent } as const;
export type EventKind = keyof typeof eventShapes;
export type EventOf<K extends EventKind> = TypeOf<(typeof eventShapes)[K]>;

/** A page as an index takes it; a line of documents/dt=…/part-….ndjson.gz. */
export const pageDocument = struct({
  urlId: text,
  docVersion: uint,
  url: text,
  fetchedAt: uint,
  title: text,
  text,
  headings: list(struct({ level: uint, text })),
  language: optional(text),
  description: optional(text),
  /** JSON-LD blocks as they stand in the page, each valid JSON. */
  structuredData: list(text),
  links: list(text),
  canonical: optional(text),
  simHash: text,
  contentHash: text,
  segment: text,
  offset: uint,
  length: uint,
  quality: struct({ textChars: uint, linkCount: uint, textRatioPercent: uint, hasTitle: bool }),
});
export type PageDocument = TypeOf<typeof pageDocument>;
