// What is said of each column of the event tables? The one place of these words: BigQuery shows them, and so does docs/analysts.md.
import type { EventKind, EventOf } from "../events.ts";

type WordsOf<K extends EventKind> = Readonly<Record<keyof Required<EventOf<K>>, string>>;

export const eventWords: { readonly [K in EventKind]: WordsOf<K> } = {
  fetch: {
    at: "Unix ms of sending; of the decision where nothing was sent",
    url: "Canonical URL",
    urlId: "First 128 bits of the SHA-256 of the canonical URL, base64url",
    hostKey: "Scheme and authority: what a robots.txt belongs to",
    paceKey: "Whose clock the request waited for: the host name, with the port where it is not the scheme's default",
    kind: "page, robots or sitemap",
    leaseId: "The lease that this attempt had; the hops of a robots.txt share one",
    version: "Completions of the URL before this attempt",
    outcome: "fetched, unchanged, redirect, gone, client-error, … (schemas/reasons.ts: outcomes)",
    status: "HTTP status; none without an answer",
    reason: "Why it failed, or why a body was refused (schemas/reasons.ts: failureReasons, bodyEnds)",
    address: "IP address connected to",
    contentType: "Content-Type as the server sent it",
    wireBytes: "Body bytes before decoding",
    bodyBytes: "Body bytes after decoding",
    latencyMs: "From sending to the first byte of the answer",
    durationMs: "From sending to the end of the body",
    contentHash: "First 160 bits of the SHA-256 of the decoded body, hex",
    segment: "WARC file that holds it, below pages/",
    offset: "Where its record begins in the file, bytes",
    redirectTo: "Canonical URL of the target",
    links: "Links found in the page",
    dueAt: "When the URL was due, Unix ms; of pages and sitemaps that were asked for",
    priority: "Its class in the due index then: 0 seeds and sitemaps, 1 first fetches and retries, 2 revisits, 3 what is gone",
  },
  index: {
    at: "Unix ms of the visit that made the version",
    urlId: "First 128 bits of the SHA-256 of the canonical URL, base64url",
    docVersion: "Number of the document version; with urlId the key of the event, which may come twice",
    op: "upsert: the document is new or has changed; delete: the index must drop it",
    url: "Canonical URL",
    contentHash: "First 160 bits of the SHA-256 of the decoded body, hex",
    segment: "WARC file that holds it, below pages/",
    offset: "Where its record begins in the file, bytes",
    length: "Bytes of the record",
  },
  skip: {
    at: "Unix ms of the count",
    hostKey: "Scheme and authority of the refused URLs",
    reason: "Why they were refused (schemas/reasons.ts)",
    count: "How many",
    samples: "Up to three of them",
    source: "Where they were seen: link, sitemap, redirect, seed",
  },
};
