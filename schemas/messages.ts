// What travels through the queues: discoveries, and what a host's frontier must learn.
import { bool, list, oneOf, optional, struct, type TypeOf, text, uint, union } from "./codec.ts";
import { urlKinds } from "./url-state.ts";

const discoverSources = ["seed", "link", "redirect", "sitemap"] as const;

/** All URLs one page, sitemap, redirect or seed list leads to; at most limits.discoverUrls and limits.discoverBytes. */
export const discoverMessage = struct({
  source: oneOf(discoverSources),
  /** The URL they were found on; absent for seeds. */
  from: optional(text),
  depth: uint,
  hops: uint,
  kind: oneOf(urlKinds),
  urls: list(text),
});
export type DiscoverMessage = TypeOf<typeof discoverMessage>;

/** What HostFrontier is told of one pace key. Any of it may be lost, doubled or late. */
export const hostMessage = union({
  /** This host may have due URLs. */
  wake: struct({ paceKey: text, at: uint }),
  /** A lease ended. `fetched`: a request was sent. */
  report: struct({
    paceKey: text,
    leaseId: text,
    urlId: text,
    hostKey: text,
    fetched: bool,
    /** An Outcome or UnfetchedReason. */
    result: text,
    at: uint,
    /** When the URL is due again; absent where its record was not written. */
    nextDueAt: optional(uint),
    /** When the host's clock next allows a start, as the release left it; absent where it was not written. */
    nextStartAt: optional(uint),
  }),
});
export type HostMessage = TypeOf<typeof hostMessage>;
export type Report = Extract<HostMessage, { kind: "report" }>;

/** The `host` queue also carries the ticker's sweeps. */
export const hostQueueMessage = union({
  host: struct({ message: hostMessage }),
  sweep: struct({ shard: uint }),
});

/** A page whose document is still to be made from the stored object. */
export const reparseMessage = struct({ paceKey: text, urlId: text, version: uint });
export type ReparseMessage = TypeOf<typeof reparseMessage>;
