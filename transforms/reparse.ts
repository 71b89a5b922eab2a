// Reparse: pages that were left behind by a full or stalled parser, or could not be parsed, are parsed from the stored object, without the web.
import type { DoFnDefinition } from "../beam/dofn.ts";
import { contentHash } from "../core/content/digest.ts";
import { owesParse, reparsed, unparsed } from "../core/frontier/complete.ts";
import { pageQuality } from "../core/revisit/page-quality.ts";
import { policyFor } from "../core/traps/url-policy.ts";
import { withheld } from "../core/traps/withheld.ts";
import { hostKeyOf } from "../core/url/keys.ts";
import { type HttpMessage, parseWarcRecord } from "../core/warc/read.ts";
import { sleep } from "../ports/clock.ts";
import type { ParseFailure } from "../ports/parser.ts";
import type { Versioned } from "../ports/versioned-table.ts";
import { encode } from "../schemas/codec.ts";
import type { ContentRef } from "../schemas/content-ref.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { type ReparseMessage, reparseMessage } from "../schemas/messages.ts";
import type { ParsedPage } from "../schemas/parsed-page.ts";
import type { WithheldReason } from "../schemas/reasons.ts";
import { rowKey } from "../schemas/row-key.ts";
import type { UrlState } from "../schemas/url-state.ts";
import { finishMarks } from "./fetch/complete.ts";
import { writeDocument } from "./fetch/document.ts";
import { parseRequestOf } from "./fetch/parse-request.ts";
import { contentKey } from "./fetch/store.ts";
import { takeLinks } from "./fetch/take-body.ts";
import type { CrawlServices } from "./services.ts";

const outputs = {};
/** How long a page waits when the parser is still busy. */
export const BUSY_WAIT_MS = 500;

export const reparse: DoFnDefinition<ReparseMessage, typeof outputs, CrawlConfig, CrawlServices> = {
  form: "each",
  name: "Reparse",
  input: reparseMessage,
  outputs,
  make: (config, services) => ({
    async process(message) {
      const [row] = await services.tables.urls.get([rowKey(message.paceKey, message.urlId)]);
      if (row === undefined || row.value.version !== message.version || !row.value.marks?.reparse) return;
      const { kind } = await reparseStored(services, config, { ...message, row });
      if (kind === "busy") await sleep(services.clock, BUSY_WAIT_MS);
      // `moved`: the completion that left the mark may just have cleared its others.
      if (kind === "busy" || kind === "moved") await services.queues.reparse.publish([encode(reparseMessage, message)]);
    },
  }),
};

export interface StoredPage {
  paceKey: string;
  urlId: string;
  /** Its record as it was read. */
  row: Versioned<UrlState>;
}

/** `no-body`: none was ever kept; `no-page`: it is no page, or the URL no longer leads to it; `no-place`: nobody knows where it lies. */
export type Missing = "no-body" | "no-page" | "no-place" | "unreadable";

export type Reparsed =
  /** All is written; `index`: what the index was told of the new document version, if there is one; `withheld`: why it is no page. */
  | { kind: "parsed"; index?: "upsert" | "delete"; withheld?: WithheldReason }
  /** Its words, links and robots tags are those of the record, which owes nothing: nothing was written. */
  | { kind: "unchanged" }
  /** The page's own fault; it is marked. */
  | { kind: "failed"; reason: Exclude<ParseFailure["reason"], "busy"> }
  /** There is nothing to parse; a page that was to be parsed is marked as failed. */
  | { kind: "missing"; reason: Missing }
  /** The parser is full or stalled: not now. Nothing was written. */
  | { kind: "busy" }
  /** The record was written meanwhile, or unfinished work in it was finished first: read it and ask again. */
  | { kind: "moved" };

/**
 * Parses the stored object of a page and writes what a fetch would: links, document, record, index event. A page that the index was not
 * given stays out of it, unless it was never parsed: why it was withheld, the next visit sees and the stored object does not.
 */
export async function reparseStored(services: CrawlServices, config: CrawlConfig, page: StoredPage): Promise<Reparsed> {
  const { paceKey, urlId, row } = page;
  const record = row.value;
  if (record.marks?.index !== undefined) {
    await finishMarks(services, paceKey, urlId, row); // our event would take its place
    return { kind: "moved" };
  }
  const stored = await readStored(services, record);
  if ("missing" in stored) {
    const told = owesParse(record) ? await keepMarked(services, page, stored.missing) : true;
    return told ? { kind: "missing", reason: stored.missing } : { kind: "moved" };
  }
  const { headers, body } = stored.http;
  const parsed = await services.parser.parse(parseRequestOf({ url: record.canonicalUrl, headers, bytes: body }, config));
  if (parsed.ok) return takeParsed(services, config, page, { ...stored, parsed });
  const { reason } = parsed;
  if (reason === "busy") return { kind: "busy" };
  services.metrics.count("gleaner_parse_failures_total", 1, { reason });
  return (await keepMarked(services, page, reason)) ? { kind: "failed", reason } : { kind: "moved" };
}

async function takeParsed(
  services: CrawlServices,
  config: CrawlConfig,
  page: StoredPage,
  { parsed, ref, http }: { parsed: ParsedPage; ref: ContentRef; http: HttpMessage },
): Promise<Reparsed> {
  const { urlId, row } = page;
  const before = row.value;
  const url = before.canonicalUrl;
  const reason = owesParse(before) ? judged(services, page, parsed, http.status) : undefined;
  if (reason !== undefined) {
    const told = await writeRecord(services, page, { after: withheld(before, reason, parsed.simHash), ref });
    return told.kind === "parsed" ? { ...told, withheld: reason } : told;
  }
  const indexable = !parsed.noindex && (owesParse(before) || before.indexed === true);
  if (!owesParse(before) && isAsRecorded(before, parsed, indexable)) return { kind: "unchanged" };
  await takeLinks(services, url, before, parsed);
  if (indexable && config.documents) {
    const hash = before.contentHash ?? new Uint8Array();
    const fetchedAt = before.lastFetchAt ?? 0;
    await writeDocument(services, { lease: { urlId, url }, before, page: parsed, ref, hash, fetchedAt });
  }
  const { simHash, linkSetHash } = parsed;
  const after = reparsed(before, { simHash, linkSetHash, quality: pageQuality(parsed.quality), indexable });
  return writeRecord(services, page, { after, ref });
}

/** Why the page is none, by what its host answers elsewhere; as a fetch judges (fetch/take-body.ts), and remembered with its answers. */
function judged(
  { answers, live, metrics }: CrawlServices,
  { urlId, row }: StoredPage,
  { links, simHash, title }: ParsedPage,
  status = 0,
): WithheldReason | undefined {
  const url = row.value.canonicalUrl;
  const hostKey = hostKeyOf(url);
  const { softNotFoundUrls } = policyFor(live.now(), hostKey, url).limits;
  const reason = answers.judge(hostKey, { urlId, url, status, title, links, simHash }, softNotFoundUrls);
  if (reason !== undefined) metrics.count("gleaner_pages_withheld_total", 1, { reason });
  return reason;
}

async function writeRecord(
  services: CrawlServices,
  { paceKey, urlId, row }: StoredPage,
  { after, ref }: { after: UrlState; ref: ContentRef },
): Promise<Reparsed> {
  const rev = await services.tables.urls.compareAndSet(rowKey(paceKey, urlId), after, row.rev);
  if (rev === undefined) return { kind: "moved" };
  await finishMarks(services, paceKey, urlId, { rev, value: after }, ref);
  return after.marks?.index === undefined ? { kind: "parsed" } : { kind: "parsed", index: after.marks.index };
}

function isAsRecorded({ simHash, linkSetHash, indexed = false }: UrlState, parsed: ParsedPage, indexable: boolean): boolean {
  const sameWords = simHash !== undefined && Buffer.from(simHash).toString("hex") === parsed.simHash;
  const sameLinks = linkSetHash !== undefined && Buffer.from(linkSetHash).equals(parsed.linkSetHash);
  return sameWords && sameLinks && indexed === indexable;
}

/** Whether the mark stands: a page that cannot be parsed keeps what it has, and is found again by its mark. */
async function keepMarked({ tables }: CrawlServices, { paceKey, urlId, row }: StoredPage, reason: string): Promise<boolean> {
  const after = unparsed(row.value, reason);
  const { marks, lastReason } = row.value;
  if (marks?.parseFailed && !marks.reparse && lastReason === after.lastReason) return true; // as it was
  return (await tables.urls.compareAndSet(rowKey(paceKey, urlId), after, row.rev)) !== undefined;
}

async function readStored(
  { archive, tables, log }: CrawlServices,
  record: UrlState,
): Promise<{ ref: ContentRef; http: HttpMessage } | { missing: Missing }> {
  const { canonicalUrl: url, contentHash: hash } = record;
  if (hash === undefined) return { missing: "no-body" };
  if (record.linkSetHash === undefined && !owesParse(record)) return { missing: "no-page" };
  const [row] = await tables.content.get([contentKey(hash)]);
  if (row === undefined) {
    log("error", "nothing tells where a stored page lies", { url });
    return { missing: "no-place" };
  }
  const { segment, offset } = row.value;
  const bytes = await archive.read(row.value).catch(() => undefined); // the place may be damaged
  const stored = bytes === undefined ? undefined : parseWarcRecord(bytes);
  const http = stored?.ok ? stored.http : undefined;
  if (http !== undefined && Buffer.from(hash).equals(contentHash(http.body))) return { ref: row.value, http };
  log("error", "a stored page cannot be read back", { url, segment, offset });
  return { missing: "unreadable" };
}
