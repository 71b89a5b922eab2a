// Where a kept body goes: a new one into the worker's WARC segment, a known one as a revisit record that refers to it.
import { type Capture, captureRecords } from "../../core/warc/capture.ts";
import type { Answer } from "../../ports/http.ts";
import type { Random } from "../../ports/random.ts";
import type { ContentRef } from "../../schemas/content-ref.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import type { CrawlServices } from "../services.ts";

export interface CaptureFacts {
  lease: FetchLease;
  answer: Answer;
  address: string;
}

/** The reference is inserted only after the segment's group commit, so whoever finds it finds the body. */
export async function storeBody(
  services: CrawlServices,
  facts: CaptureFacts,
  body: Uint8Array,
  contentHash: Uint8Array,
): Promise<ContentRef> {
  const { archive, tables } = services;
  const key = contentKey(contentHash);
  const [known] = await tables.content.get([key]);
  const { url } = facts.lease;
  if (known !== undefined) {
    const { url: firstUrl, storedAt } = known.value;
    await archive.append(
      records(services.random, facts, body, { url: firstUrl, at: storedAt, profile: "identical-payload-digest" }),
    );
    return known.value;
  }
  const [request, response] = records(services.random, facts, body);
  const stored = await archive.append([request, response]);
  const digest = response.index?.digest;
  const ref: ContentRef = {
    ...stored.at(-1)!,
    url,
    storedAt: facts.answer.sentAt,
    ...(digest === undefined ? {} : { digest }),
  };
  const [inserted] = await tables.content.insertIfAbsent([{ key, value: ref }]);
  if (inserted) return ref;
  const [first] = await tables.content.get([key]);
  return first?.value ?? ref;
}

/** A 304 is a capture too: the server vouches for the body it gave before. */
export async function storeUnchanged(services: CrawlServices, facts: CaptureFacts & { before: UrlState }): Promise<void> {
  const { contentHash } = facts.before;
  if (contentHash === undefined) return;
  const [known] = await services.tables.content.get([contentKey(contentHash)]);
  if (known === undefined) return;
  const { url, storedAt, digest } = known.value;
  const revisitOf: RevisitOf = {
    url,
    at: storedAt,
    profile: "server-not-modified",
    ...(digest === undefined ? {} : { digest }),
  };
  await services.archive.append(records(services.random, facts, new Uint8Array(), revisitOf));
}

/** Hex of the hash: spread over the key space by itself, and no host's. */
export function contentKey(contentHash: Uint8Array): string {
  return Buffer.from(contentHash).toString("hex");
}

type RevisitOf = NonNullable<Capture["revisitOf"]>;

/** The request record, then the response or revisit record. */
function records(random: Random, { lease, answer, address }: CaptureFacts, body: Uint8Array, revisitOf?: RevisitOf) {
  return captureRecords({
    id: uuid(random),
    requestId: uuid(random),
    url: lease.url,
    at: answer.sentAt,
    address,
    method: "GET",
    requestHeaders: answer.requestHeaders,
    status: answer.status,
    statusText: answer.statusText,
    httpVersion: answer.httpVersion,
    headers: answer.headers,
    body,
    ...(revisitOf === undefined ? {} : { revisitOf }),
  });
}

/** A version 4 UUID (RFC 9562 5.4) of the 128 bits of a token. */
function uuid(random: Random): string {
  const bits = Buffer.from(random.token(), "base64url");
  bits[6] = (bits[6]! & 0x0f) | 0x40;
  bits[8] = (bits[8]! & 0x3f) | 0x80;
  const hex = bits.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
