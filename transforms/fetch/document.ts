// The page as an index takes it, written before its record completes: a repeat carries the same key (urlId, docVersion).

import type { ContentRef } from "../../schemas/content-ref.ts";
import type { PageDocument } from "../../schemas/events.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import type { ParsedPage } from "../../schemas/parsed-page.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import type { CrawlServices } from "../services.ts";

export interface DocumentJob {
  lease: Pick<FetchLease, "urlId" | "url">;
  before: UrlState;
  page: ParsedPage;
  ref: ContentRef;
  hash: Uint8Array;
  fetchedAt: number;
}

export async function writeDocument({ documents, metrics }: CrawlServices, job: DocumentJob): Promise<void> {
  if (job.page.document === undefined) return;
  metrics.count("gleaner_documents_total");
  await documents.append([JSON.stringify(documentOf(job, job.page.document))]);
}

function documentOf(
  { lease, before, page, ref, hash, fetchedAt }: DocumentJob,
  parsed: NonNullable<ParsedPage["document"]>,
): PageDocument {
  return {
    urlId: lease.urlId,
    docVersion: before.docVersion + 1,
    url: lease.url,
    fetchedAt,
    title: page.title,
    text: parsed.text,
    headings: parsed.headings,
    ...(page.language === undefined ? {} : { language: page.language }),
    ...(parsed.description === undefined ? {} : { description: parsed.description }),
    structuredData: parsed.structuredData,
    links: page.links,
    ...(page.canonical === undefined ? {} : { canonical: page.canonical }),
    simHash: page.simHash,
    contentHash: Buffer.from(hash).toString("hex"),
    segment: ref.segment,
    offset: ref.offset,
    length: ref.length,
    quality: page.quality,
  };
}
