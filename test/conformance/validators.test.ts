// Does a revisit ask with the validators of the answer it has, and understand "not modified"? RFC 9111 4.3, RFC 9110 8.8 and 13.1.
import { parseWarcRecord } from "../../core/warc/read.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import type { Reply } from "../transforms/fake-web.ts";
import { addUrl, allowAll, PAGE, PAGE_ID, pageLease, runLease } from "../transforms/fetch/leases.ts";
import { START, urlRecord, world } from "../transforms/world.ts";
import { type Check, conformance } from "./lib.ts";

/** A header's value: text, or seconds from now for a date. */
type GivenHeader = [name: string, value: string | number, expected?: boolean];

interface CacheRequest {
  request_headers?: GivenHeader[];
  response_headers?: GivenHeader[];
  expected_type?: string;
  expected_request_headers?: GivenHeader[];
  expected_response_headers?: (GivenHeader | string)[];
}

interface CacheTest {
  id: string;
  requests: CacheRequest[];
}

const HOUR = 3_600_000;

conformance({
  name: "validators and not modified: http-tests",
  files: ["http-cache-tests.json"],
  cases: 90,
  justified: {
    "conditional-etag-strong-generate-unquoted asks":
      "RFC 9110 8.8.3: an entity tag is quoted; what a server sends instead is opaque, and only given back as it came can it mean something to that server",
  },
  async judge(data, check) {
    const tests = data.json<{ tests: CacheTest[] }[]>("http-cache-tests.json").flatMap((suite) => suite.tests);
    for (const one of tests.filter(isOurs)) await judgeRevisits(one, check);
  },
});

/**
 * We keep one answer and always ask again: freshness, which decides whether a cache asks, is not ours, nor are the conditions of a client
 * behind a cache. What is ours: a stored answer that is to be validated.
 */
function isOurs({ requests }: CacheTest): boolean {
  const validated = requests.some(({ expected_type }) => expected_type?.endsWith("_validated"));
  return validated && !requests.some((request) => (request.request_headers ?? []).some(([name]) => /^(if-|abc$)/i.test(name)));
}

async function judgeRevisits({ id, requests }: CacheTest, check: Check): Promise<void> {
  // What a cache would answer by itself is no request of ours.
  const asked = requests.filter(({ expected_type }) => expected_type !== "cached");
  const given = world({ site: { [PAGE]: ({ times }) => replyOf(asked[times]!) } });
  await addUrl(given.services);
  await allowAll(given.services);
  let before: UrlState | undefined;
  for (const [version, request] of asked.entries()) {
    await given.clock.run(START + version * HOUR);
    const now = given.clock.now();
    await runLease(given, pageLease({ version, leaseId: `lease-${version}`, notBefore: now, startBy: now + HOUR }));
    const after = (await urlRecord(given, "a.test", PAGE_ID))!;
    if (before !== undefined) {
      const sent = given.web.log.at(-1)?.headers ?? {};
      const name = asked.length > 2 ? `${id} ${version}` : id;
      check(`${name} asks`, conditionsOf(sent), expectedConditions(asked.slice(0, version), request));
      check(
        `${name} keeps`,
        [after.lastOutcome, after.contentHash, after.etag],
        ["unchanged", before.contentHash, etagOf(request) ?? before.etag],
      );
      check(`${name} archives`, archived(Buffer.concat(given.archive.records().at(-1)!.bytes)), ["revisit", valuesOf(request)]);
    }
    before = after;
  }
}

/** The first answer has a body; the later ones say that it is still the same. */
function replyOf(request: CacheRequest): Reply {
  const headers = Object.fromEntries(valuesOf(request));
  if (request.expected_type?.endsWith("_validated")) return { status: 304, headers };
  return { status: 200, headers: { ...headers, "content-type": "text/html" }, body: "<p>the same</p>" };
}

function valuesOf({ response_headers = [] }: CacheRequest): [string, string][] {
  return response_headers.map(([name, value]) => [name, typeof value === "string" ? value : dateOf(value)]);
}

function dateOf(seconds: number): string {
  return new Date(START + seconds * 1000).toUTCString();
}

function conditionsOf(headers: Record<string, string>): [string | undefined, string | undefined] {
  return [headers["if-none-match"], headers["if-modified-since"]];
}

/** RFC 9111 4.3.1: the validators of the newest answer that had them; where the set names a header, that one. */
function expectedConditions(earlier: readonly CacheRequest[], { expected_request_headers = [] }: CacheRequest) {
  const named = expected_request_headers.find(([name]) => name.toLowerCase() === "if-none-match")?.[1];
  const newest = (name: string) =>
    earlier.map((request) => headerValue(request, name)).findLast((value) => value !== undefined);
  return [named ?? newest("etag"), newest("last-modified")];
}

function headerValue(request: CacheRequest, wanted: string): string | undefined {
  return valuesOf(request).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

function etagOf(request: CacheRequest): string | undefined {
  return headerValue(request, "etag");
}

/** A record of the 304 with its headers as they came: those that a stored answer is to be updated with (RFC 9111 3.2) among them. */
function archived(bytes: Buffer): unknown {
  const record = parseWarcRecord(bytes);
  if (!record.ok) return record.reason;
  return [record.type, record.http?.headers.map(([name, value]) => [name.replace(/^X-Archive-Orig-/, ""), value])];
}
