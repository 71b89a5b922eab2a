// What is known of one URL. The record of the frontier; facts only, the next due time is the one decision it keeps.
import { bool, fixed, list, oneOf, optional, struct, type TypeOf, text, uint, usually, versioned } from "./codec.ts";
import { clusterRoles } from "./daily/clusters.ts";
import { outcomes } from "./reasons.ts";
import { before, hourlyVisit, httpDateText, packedText, urlUnderKey } from "./url-codecs.ts";

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
  /** It could not be made: the stored object waits for `npm run replay`, or for a visit that parses the page. */
  parseFailed: optional(bool),
});

/** What the outcome says of the status; another one is stored. */
const USUAL_STATUS: Readonly<Record<string, number>> = { fetched: 200, unchanged: 304, gone: 404 };

const CONTENT_HASH_BYTES = 20; // 160 bits: that two of 10^13 bodies share it has a chance below 10^-22
const FINGERPRINT_BYTES = 8;
const BYTES_VERSION = 2; // 1 had the whole URL, 256 bits of content hash and a check

/** At most 200 B with its row key, four visits and a URL of 80 B; docs/capacity.md. Fields come after those they are told from, rare ones last. */
const fields = struct({
  canonicalUrl: urlUnderKey,
  /** Completions so far. */
  version: uint,
  /** Links from the nearest seed. */
  depth: uint,
  priority: usually(uint, priorities.revisit),
  nextFetchAt: uint,
  discoveredAt: before("nextFetchAt"),
  lastOutcome: optional(oneOf(outcomes)),
  lastStatus: usually(optional(uint), ({ lastOutcome }) => USUAL_STATUS[lastOutcome as string]),
  /** Unix ms when the last request was sent. */
  lastFetchAt: optional(before("nextFetchAt")),
  lastLeaseId: optional(packedText),
  etag: optional(text),
  lastModified: optional(httpDateText),
  /** The first 160 bits of SHA-256 of the decoded body. */
  contentHash: optional(fixed(CONTENT_HASH_BYTES)),
  /** 64 bits. */
  simHash: optional(fixed(FINGERPRINT_BYTES)),
  /** First 8 bytes of SHA-256 over the links last published. */
  linkSetHash: optional(fixed(FINGERPRINT_BYTES)),
  /** Whether the index holds a document of this URL. */
  indexed: usually(optional(bool), true),
  /** Past visits, newest last: ms since the one before in whole hours, and whether the content had changed. */
  changeHistory: optional(list(hourlyVisit)),
  /** Documents given to the index so far; an index event is (urlId, docVersion). */
  docVersion: usually(uint, ({ version }) => version),
  /** Failed attempts since the last success. */
  failureCount: usually(uint, 0),
  kind: usually(oneOf(urlKinds), "page"),
  /** Redirects followed to come here. */
  hops: usually(uint, 0),
  /** A FailureReason or BodyEnd beside the outcome. */
  lastReason: optional(text),
  /** How it was first found, where the host's parameter rules spelled it anew. */
  foundAs: optional(text),
  /** Of a sitemap: the host name that led here from elsewhere, by its robots.txt, a redirect or its index, and may be listed in it. */
  vouchedBy: optional(text),
  marks: optional(marks),
  /** Of the page that is kept, 0 to 100: core/revisit/page-quality.ts. */
  quality: optional(uint),
  /** Among near-duplicates, as the daily pipeline found; a page that has none stands alone. */
  cluster: optional(struct({ id: fixed(FINGERPRINT_BYTES), role: oneOf(clusterRoles) })),
  /** Since when its pattern is paused, Unix ms, as its visits in vain tell. */
  heldSince: optional(uint),
});

export const urlState = versioned(fields, BYTES_VERSION);

export type UrlState = TypeOf<typeof urlState>;
export type Marks = TypeOf<typeof marks>;
