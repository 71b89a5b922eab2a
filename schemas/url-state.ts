// What is known of one URL. The record of the frontier; facts only, the next due time is the one decision it keeps.
import { bool, bytes, list, oneOf, optional, struct, type TypeOf, text, uint } from "./codec.ts";
import { outcomes } from "./reasons.ts";

export const urlKinds = ["page", "sitemap"] as const;

/** 0: seeds and sitemaps; 1: first fetches and retries; 2: revisits; 3: what is gone, failed or forbidden. The class in the due index. */
export const priorities = { urgent: 0, discovery: 1, revisit: 2, dormant: 3 } as const;
export const priorityClasses = [0, 1, 2, 3] as const;

/** Work that a completion has decided and not yet finished; whoever meets it finishes it first. */
const marks = struct({
  /** The due entry that the new one replaces. */
  dueFrom: optional(struct({ priority: uint, dueAt: uint })),
  /** The index event of docVersion is still to be published. */
  index: optional(oneOf(["upsert", "delete"])),
  /** The page's document is still to be made from the stored object. */
  reparse: optional(bool),
});

export const urlState = struct({
  canonicalUrl: text,
  /** 64 more bits of the URL's hash; another value under the same id is a collision. */
  check: bytes,
  kind: oneOf(urlKinds),
  /** Completions so far. */
  version: uint,
  /** Documents given to the index so far; an index event is (urlId, docVersion). */
  docVersion: uint,
  /** Links from the nearest seed. */
  depth: uint,
  /** Redirects followed to come here. */
  hops: uint,
  priority: uint,
  discoveredAt: uint,
  nextFetchAt: uint,
  /** Failed attempts since the last success. */
  failureCount: uint,
  lastOutcome: optional(oneOf(outcomes)),
  lastStatus: optional(uint),
  /** A FailureReason or BodyEnd beside the outcome. */
  lastReason: optional(text),
  /** Unix ms when the last request was sent. */
  lastFetchAt: optional(uint),
  lastLeaseId: optional(text),
  etag: optional(text),
  lastModified: optional(text),
  /** SHA-256 of the decoded body. */
  contentHash: optional(bytes),
  /** 64 bits. */
  simHash: optional(bytes),
  /** First 8 bytes of SHA-256 over the links last published. */
  linkSetHash: optional(bytes),
  /** Whether the index holds a document of this URL. */
  indexed: optional(bool),
  /** Past visits, newest last: ms since the one before, and whether the content had changed. */
  changeHistory: optional(list(struct({ afterMs: uint, changed: bool }))),
  marks: optional(marks),
});

export type UrlState = TypeOf<typeof urlState>;
export type Marks = TypeOf<typeof marks>;
