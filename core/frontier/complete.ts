// How does a lease end in its URL's record? The versioned completion: a second or late one changes nothing.
import { limits } from "../../schemas/limits.ts";
import type { Outcome } from "../../schemas/reasons.ts";
import { type Marks, priorities, type UrlState } from "../../schemas/url-state.ts";
import { nextInterval, remembered, retryWait } from "../revisit/interval.ts";
import { heldWait, spreadWait } from "../revisit/settled-wait.ts";

/** What came of the attempt, as far as the record cares. */
export interface Completion {
  outcome: Outcome;
  status?: number;
  /** A FailureReason or BodyEnd. */
  reason?: string;
  /** Unix ms of sending; absent where no request was made. */
  sentAt?: number;
  /** Where the host is left alone until then, the URL need not be due before. */
  hostFreeAt?: number;
  /** Of a kept body, new or the same again; absent with a 304. */
  content?: KeptContent;
  /** Validators as the answer gave them; empty where it gave none. */
  etag?: string;
  lastModified?: string;
}

export interface KeptContent {
  hash: Uint8Array;
  simHash?: string;
  linkSetHash?: Uint8Array;
  /** 0 to 100. */
  quality?: number;
  /** Whether an index may have it; absent where the page is not parsed yet, or cannot be. */
  indexable?: boolean;
  reparse: boolean;
}

export interface Completed {
  after: UrlState;
  changed: boolean;
}

/** The record after the lease ended at `now` (Unix ms). */
export function complete(before: UrlState, leaseId: string, completion: Completion, now: number): Completed {
  const changed = hasChanged(before, completion);
  const schedule = scheduled(before, leaseId, completion, { changed, now });
  const index = indexChange(before, completion, changed);
  const marks: Marks = {
    dueFrom: { priority: before.priority, dueAt: before.nextFetchAt },
    ...(index === undefined ? {} : { index }),
    ...parseDue(before, completion),
  };
  const { heldSince: _, ...lasting } = before;
  const after: UrlState = {
    ...lasting,
    ...schedule,
    ...contentFields(before, completion),
    ...(index === undefined ? {} : { docVersion: before.docVersion + 1, indexed: index === "upsert" }),
    version: before.version + 1,
    lastOutcome: completion.outcome,
    lastLeaseId: leaseId,
    marks,
  };
  return { after: withLast(after, completion), changed };
}

/** The result of the first completion, for one that comes twice or late; undefined: this lease may still complete. */
export function priorResult(record: UrlState, lease: { leaseId: string; version: number }): "already" | "stale" | undefined {
  if (record.version === lease.version) return undefined;
  return record.lastLeaseId === lease.leaseId ? "already" : "stale";
}

/** Whether the page that is kept was never parsed to its end: its links and document are still to come. */
export function owesParse({ marks }: UrlState): boolean {
  return marks?.reparse === true || marks?.parseFailed === true;
}

export interface ReparsedContent extends Pick<KeptContent, "quality"> {
  simHash: string;
  linkSetHash: Uint8Array;
  indexable: boolean;
}

/** The record after its stored page was parsed at last; nothing but what parsing tells is changed. */
export function reparsed(record: UrlState, parsed: ReparsedContent): UrlState {
  const { lastReason, ...rest } = unmarked(record, ["reparse", "parseFailed"]);
  const plain: UrlState = lastReason === undefined || lastReason.startsWith(PARSE) ? rest : { ...rest, lastReason };
  const { simHash, linkSetHash, quality } = parsed;
  const fields = { simHash: Buffer.from(simHash, "hex"), linkSetHash, ...(quality === undefined ? {} : { quality }) };
  if (!parsed.indexable && !record.indexed) return { ...plain, ...fields };
  const index = parsed.indexable ? "upsert" : "delete";
  return {
    ...plain,
    ...fields,
    docVersion: record.docVersion + 1,
    indexed: parsed.indexable,
    marks: { ...plain.marks, index },
  };
}

/** The record after its stored page could not be parsed for that reason; the mark stays until it can. */
export function unparsed(record: UrlState, reason: string): UrlState {
  const plain = unmarked(record, ["reparse"]);
  const told = record.lastReason?.startsWith(PARSE) ? { lastReason: PARSE + reason } : {};
  return { ...plain, ...told, marks: { ...plain.marks, parseFailed: true } };
}

/** How a reason begins that a parse gave, and not the answer. */
const PARSE = "parse-";

/** The record when its marks are done; the same rev-checked write clears them. */
export function unmarked(record: UrlState, done: readonly (keyof Marks)[]): UrlState {
  const left = { ...record.marks };
  for (const name of done) delete left[name];
  const { marks: _, ...rest } = record;
  return Object.keys(left).length === 0 ? rest : { ...rest, marks: left };
}

function hasChanged(before: UrlState, { outcome, content }: Completion): boolean {
  if (outcome !== "fetched" || content === undefined) return false;
  return before.contentHash === undefined || !Buffer.from(before.contentHash).equals(content.hash);
}

type Schedule = Pick<UrlState, "nextFetchAt" | "priority" | "failureCount" | "changeHistory" | "heldSince">;

function scheduled(
  before: UrlState,
  leaseId: string,
  completion: Completion,
  { changed, now }: { changed: boolean; now: number },
): Schedule {
  const kept = before.changeHistory === undefined ? {} : { changeHistory: before.changeHistory };
  const dormant = (afterMs: number): Schedule => ({
    ...kept,
    nextFetchAt: now + afterMs,
    priority: priorities.dormant,
    failureCount: 0,
  });
  switch (completion.outcome) {
    case "fetched":
    case "unchanged":
      return visited(before, completion, changed, now);
    case "redirect":
      return { ...kept, nextFetchAt: now + limits.revisitMsFirst, priority: priorities.revisit, failureCount: 0 };
    case "gone":
    case "client-error":
    case "refused-body":
      return dormant(limits.goneRevisitMs);
    case "address":
      return dormant(limits.robotsRevisitMs);
    case "robots":
    case "excluded":
      return dormant(spreadWait(limits.robotsRevisitMs, leaseId));
    case "held": {
      // it keeps its class and its failures: nothing is known of it that was not known before
      const { heldSince = now, priority, failureCount } = before;
      const nextFetchAt = now + spreadWait(heldWait(now - heldSince), leaseId);
      return { ...kept, nextFetchAt, priority, failureCount, heldSince };
    }
    case "server-error":
    case "failed":
    case "poisoned": // perhaps the page, perhaps a machine that died three times: tried again as often as any failure
    case "throttled": {
      const failures = before.failureCount + 1;
      const throttled = completion.outcome === "throttled";
      if (failures > (throttled ? limits.throttledRetries : limits.retries)) return dormant(limits.goneRevisitMs);
      const retryAt = throttled ? now : now + retryWait(failures);
      return {
        ...kept,
        nextFetchAt: Math.max(retryAt, completion.hostFreeAt ?? 0),
        priority: priorities.discovery,
        failureCount: failures,
      };
    }
  }
}

function visited(before: UrlState, { sentAt }: Completion, changed: boolean, now: number): Schedule {
  const seen = before.contentHash !== undefined && before.lastFetchAt !== undefined;
  if (!seen) return { nextFetchAt: now + nextInterval(undefined), priority: priorities.revisit, failureCount: 0 };
  const afterMs = sinceVisit(before, sentAt ?? now);
  const changeHistory = remembered(before.changeHistory, { afterMs, changed });
  return { nextFetchAt: now + nextInterval(changeHistory), priority: priorities.revisit, failureCount: 0, changeHistory };
}

/** Tries that failed since are no visits: the one before them is at least as old as the interval it was given. */
function sinceVisit(before: UrlState, at: number): number {
  const sinceRequest = Math.max(0, at - (before.lastFetchAt ?? at));
  if (before.failureCount === 0) return sinceRequest;
  return Math.max(sinceRequest, nextInterval(before.changeHistory));
}

/** An upsert for a new document version; a delete when an indexed URL is gone, not to be indexed, redirected or forbidden. */
function indexChange(before: UrlState, completion: Completion, changed: boolean): Marks["index"] {
  const { outcome, content } = completion;
  if (before.kind === "page" && content?.indexable && (changed || !before.indexed || owesParse(before))) return "upsert";
  if (!before.indexed) return undefined;
  return ends(outcome) || content?.indexable === false ? "delete" : undefined;
}

/** A body says it anew. Without one, the page that is kept is still to be parsed, unless the URL no longer leads to it. */
function parseDue(before: UrlState, { outcome, content }: Completion): Pick<Marks, "reparse" | "parseFailed"> {
  if (content?.reparse) return { reparse: true };
  if (content !== undefined) return content.indexable === undefined ? { parseFailed: true } : {};
  if (ends(outcome) || !owesParse(before)) return {};
  return before.marks?.reparse ? { reparse: true } : { parseFailed: true };
}

/** The outcomes that take a URL's document away. */
function ends(outcome: Outcome): boolean {
  return outcome === "gone" || outcome === "redirect" || outcome === "robots" || outcome === "excluded";
}

function contentFields(before: UrlState, completion: Completion): Partial<UrlState> {
  const { content } = completion;
  if (content === undefined) return {};
  return {
    contentHash: content.hash,
    ...(content.simHash === undefined ? {} : { simHash: Buffer.from(content.simHash, "hex") }),
    ...(content.quality === undefined ? {} : { quality: content.quality }),
    ...(content.linkSetHash === undefined
      ? before.linkSetHash === undefined
        ? {}
        : { linkSetHash: before.linkSetHash }
      : { linkSetHash: content.linkSetHash }),
  };
}

/** A document that was taken away is to come back with its page, though the bytes be the same: they are asked for and parsed anew. */
function withoutLinks(record: UrlState): UrlState {
  const { linkSetHash: _, ...rest } = record;
  return rest;
}

/** What the last answer said; validators belong to the body they came with, so only a body, a 304 or its end changes them. */
function withLast(record: UrlState, completion: Completion): UrlState {
  const { lastStatus: _s, lastReason: _r, ...rest } = record;
  const after: UrlState = {
    ...rest,
    ...(completion.status === undefined ? {} : { lastStatus: completion.status }),
    ...(completion.reason === undefined ? {} : { lastReason: completion.reason }),
    ...(completion.sentAt === undefined ? {} : { lastFetchAt: completion.sentAt }),
  };
  const { etag, lastModified, ...bare } = after;
  if (ends(completion.outcome)) return withoutLinks(bare);
  if (completion.outcome !== "fetched" && completion.outcome !== "unchanged") return after;
  const newEtag = completion.etag ?? (completion.outcome === "unchanged" ? etag : undefined);
  const newModified = completion.lastModified ?? (completion.outcome === "unchanged" ? lastModified : undefined);
  return {
    ...bare,
    ...(newEtag === undefined ? {} : { etag: newEtag }),
    ...(newModified === undefined ? {} : { lastModified: newModified }),
  };
}
