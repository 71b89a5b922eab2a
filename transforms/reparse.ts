// Reparse: pages that a full or stalled parser left behind are parsed from the stored object, without the web.
import type { DoFnDefinition } from "../beam/dofn.ts";
import { reparsed, unmarked } from "../core/frontier/complete.ts";
import { headerOf, headersOf } from "../core/http/outcome.ts";
import { type HttpMessage, parseWarcRecord } from "../core/warc/read.ts";
import { sleep } from "../ports/clock.ts";
import { encode } from "../schemas/codec.ts";
import type { ContentRef } from "../schemas/content-ref.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { type ReparseMessage, reparseMessage } from "../schemas/messages.ts";
import { rowKey } from "../schemas/row-key.ts";
import type { UrlState } from "../schemas/url-state.ts";
import { finishMarks } from "./fetch/complete.ts";
import { writeDocument } from "./fetch/document.ts";
import { contentKey } from "./fetch/store.ts";
import { takeLinks } from "./fetch/take-body.ts";
import type { CrawlServices } from "./services.ts";

const outputs = {};
/** How long a page waits when the parser is still busy. */
const BUSY_WAIT_MS = 500;

export const reparse: DoFnDefinition<ReparseMessage, typeof outputs, CrawlConfig, CrawlServices> = {
  form: "each",
  name: "Reparse",
  input: reparseMessage,
  outputs,
  make: (config, services) => ({
    async process(message) {
      const key = rowKey(message.paceKey, message.urlId);
      const [row] = await services.tables.urls.get([key]);
      if (row === undefined || row.value.version !== message.version || !row.value.marks?.reparse) return;
      const after = await parseStored(services, config, message.urlId, row.value);
      if (after === "busy") {
        await sleep(services.clock, BUSY_WAIT_MS);
        return services.queues.reparse.publish([encode(reparseMessage, message)]);
      }
      const rev = await services.tables.urls.compareAndSet(key, after, row.rev);
      // The completion that left the mark may just have cleared its others: look again.
      if (rev === undefined) return services.queues.reparse.publish([encode(reparseMessage, message)]);
      await finishMarks(services, message.paceKey, message.urlId, { rev, value: after });
    },
  }),
};

/** The record after the parse; `busy`: not now. A page that cannot be parsed keeps what it has and loses the mark. */
async function parseStored(
  services: CrawlServices,
  config: CrawlConfig,
  urlId: string,
  record: UrlState,
): Promise<UrlState | "busy"> {
  const stored = await readStored(services, record);
  if (stored === undefined) return unmarked(record, ["reparse"]);
  const { ref, http } = stored;
  const url = record.canonicalUrl;
  const page = await services.parser.parse({
    url,
    bytes: http.body,
    contentType: headerOf(http.headers, "content-type") ?? "",
    robotsTags: headersOf(http.headers, "x-robots-tag"),
    productToken: config.productToken,
    document: config.documents,
  });
  if (!page.ok) return page.reason === "busy" ? "busy" : unmarked(record, ["reparse"]);
  await takeLinks(services, url, record, page);
  const indexable = !page.noindex;
  if (indexable && config.documents) {
    const hash = record.contentHash ?? new Uint8Array();
    await writeDocument(services, {
      lease: { urlId, url },
      before: record,
      page,
      ref,
      hash,
      fetchedAt: record.lastFetchAt ?? 0,
    });
  }
  return reparsed(record, { simHash: page.simHash, linkSetHash: page.linkSetHash, indexable });
}

async function readStored(
  { archive, tables, log }: CrawlServices,
  record: UrlState,
): Promise<{ ref: ContentRef; http: HttpMessage } | undefined> {
  if (record.contentHash === undefined) return undefined;
  const [row] = await tables.content.get([contentKey(record.contentHash)]);
  if (row === undefined) return undefined;
  const bytes = await archive.read(row.value).catch(() => undefined); // the place may be damaged: the page is then left as it is
  const stored = bytes === undefined ? undefined : parseWarcRecord(bytes);
  if (stored?.ok && stored.http !== undefined) return { ref: row.value, http: stored.http };
  log("error", "a stored page cannot be read back", {
    url: record.canonicalUrl,
    segment: row.value.segment,
    offset: row.value.offset,
  });
  return undefined;
}
