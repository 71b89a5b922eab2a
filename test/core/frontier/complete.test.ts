import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type Completion,
  complete,
  owesParse,
  priorResult,
  reparsed,
  unmarked,
  unparsed,
} from "../../../core/frontier/complete.ts";
import { nextInterval } from "../../../core/revisit/interval.ts";
import { spreadWait } from "../../../core/revisit/settled-wait.ts";
import { decode, encode } from "../../../schemas/codec.ts";
import { limits } from "../../../schemas/limits.ts";
import { outcomes } from "../../../schemas/reasons.ts";
import { priorityClasses, type UrlState, urlState } from "../../../schemas/url-state.ts";
import { bytes, DAY, NOW, url, visited } from "./given.ts";

const MINUTE = 60_000;
const LEASE = "lease-9";
/** Days. */
const WEEK_SPREAD = spreadWait(7 * DAY, LEASE) / DAY;
const body = (fill: number, change: Partial<NonNullable<Completion["content"]>> = {}) => ({
  hash: bytes(fill),
  simHash: "0123456789abcdef",
  linkSetHash: bytes(fill, 8),
  indexable: true,
  reparse: false,
  ...change,
});

interface Row {
  situation: string;
  before: UrlState;
  completion: Completion;
  /** From now. */
  dueIn: number;
  priority: 0 | 1 | 2 | 3;
  failureCount?: number;
  index?: "upsert" | "delete";
  reparse?: true;
  parseFailed?: true;
}

const sentAt = NOW - 500;

const afterAChange = nextInterval([
  { afterMs: 7 * DAY, changed: false },
  { afterMs: 10 * DAY, changed: true },
]);

const table: Row[] = [
  {
    situation: "a new page",
    before: url(),
    completion: { outcome: "fetched", status: 200, sentAt, content: body(1) },
    dueIn: 7 * DAY,
    priority: 2,
    index: "upsert",
  },
  {
    situation: "a new page that is not to be indexed",
    before: url(),
    completion: { outcome: "fetched", sentAt, content: body(1, { indexable: false }) },
    dueIn: 7 * DAY,
    priority: 2,
  },
  {
    situation: "a new sitemap is no document",
    before: url({ kind: "sitemap" }),
    completion: { outcome: "fetched", sentAt, content: body(1) },
    dueIn: 7 * DAY,
    priority: 2,
  },
  {
    situation: "a changed page comes sooner",
    before: visited(),
    completion: { outcome: "fetched", sentAt, content: body(2) },
    dueIn: afterAChange,
    priority: 2,
    index: "upsert",
  },
  {
    situation: "the same bytes come later",
    before: visited(),
    completion: { outcome: "unchanged", sentAt, content: body(1) },
    dueIn: 30 * DAY,
    priority: 2,
  },
  {
    situation: "a 304 comes later",
    before: visited(),
    completion: { outcome: "unchanged", status: 304, sentAt },
    dueIn: 30 * DAY,
    priority: 2,
  },
  {
    situation: "unchanged for years: still within 30 days (C5)",
    before: visited({ lastFetchAt: NOW - 900 * DAY }),
    completion: { outcome: "unchanged", status: 304, sentAt },
    dueIn: 30 * DAY,
    priority: 2,
  },
  {
    situation: "unchanged after a try that failed a minute ago: the interval does not collapse",
    before: visited({ lastFetchAt: NOW - MINUTE, failureCount: 1 }),
    completion: { outcome: "unchanged", status: 304, sentAt },
    dueIn: 30 * DAY,
    priority: 2,
  },
  {
    situation: "an indexed page that asks not to be",
    before: visited(),
    completion: { outcome: "unchanged", sentAt, content: body(1, { indexable: false }) },
    dueIn: 30 * DAY,
    priority: 2,
    index: "delete",
  },
  {
    situation: "the same bytes, to be indexed at last",
    before: visited({ indexed: false }),
    completion: { outcome: "unchanged", sentAt, content: body(1) },
    dueIn: 30 * DAY,
    priority: 2,
    index: "upsert",
  },
  {
    situation: "a page that waits for a parser",
    before: url(),
    completion: {
      outcome: "fetched",
      sentAt,
      reason: "parse-busy",
      content: { hash: bytes(1), reparse: true },
    },
    dueIn: 7 * DAY,
    priority: 2,
    reparse: true,
  },
  {
    situation: "not modified while the page still waits for a parser",
    before: visited({ marks: { reparse: true } }),
    completion: { outcome: "unchanged", status: 304, sentAt },
    dueIn: 30 * DAY,
    priority: 2,
    reparse: true,
  },
  {
    situation: "gone while the page still waits for a parser",
    before: visited({ marks: { reparse: true } }),
    completion: { outcome: "gone", status: 404, sentAt },
    dueIn: 30 * DAY,
    priority: 3,
    index: "delete",
  },
  {
    situation: "a page that cannot be parsed keeps its document",
    before: visited(),
    completion: { outcome: "fetched", sentAt, reason: "parse-timeout", content: { hash: bytes(2), reparse: false } },
    dueIn: afterAChange,
    priority: 2,
    parseFailed: true,
  },
  {
    situation: "not modified after a parse that failed",
    before: visited({ marks: { parseFailed: true } }),
    completion: { outcome: "unchanged", status: 304, sentAt },
    dueIn: 30 * DAY,
    priority: 2,
    parseFailed: true,
  },
  {
    situation: "no answer after a parse that failed",
    before: visited({ marks: { parseFailed: true } }),
    completion: { outcome: "client-error" },
    dueIn: 30 * DAY,
    priority: 3,
    parseFailed: true,
  },
  {
    situation: "gone after a parse that failed",
    before: visited({ marks: { parseFailed: true } }),
    completion: { outcome: "gone", status: 404, sentAt },
    dueIn: 30 * DAY,
    priority: 3,
    index: "delete",
  },
  ...(["reparse", "parseFailed"] as const).map(
    (mark): Row => ({
      situation: `the same bytes, indexed, and parsed at last after the mark ${mark}`,
      before: visited({ marks: { [mark]: true } }),
      completion: { outcome: "unchanged", sentAt, content: body(1) },
      dueIn: 30 * DAY,
      priority: 2,
      index: "upsert",
    }),
  ),
  ...(["gone", "redirect", "robots"] as const).map((outcome): Row => {
    const [dueIn, priority] = { gone: [30, 3], redirect: [7, 2], robots: [WEEK_SPREAD, 3] }[outcome] as [number, 2 | 3];
    const completion: Completion = { outcome, sentAt };
    return { situation: `${outcome}, indexed`, before: visited(), completion, dueIn: dueIn * DAY, priority, index: "delete" };
  }),
  ...(["gone", "redirect", "robots"] as const).map((outcome): Row => {
    const [dueIn, priority] = { gone: [30, 3], redirect: [7, 2], robots: [WEEK_SPREAD, 3] }[outcome] as [number, 2 | 3];
    return { situation: `${outcome}, never indexed`, before: url(), completion: { outcome }, dueIn: dueIn * DAY, priority };
  }),
  ...(["client-error", "refused-body"] as const).map(
    (outcome): Row => ({
      situation: `${outcome}: put away for a month, the document stays`,
      before: visited(),
      completion: { outcome },
      dueIn: 30 * DAY,
      priority: 3,
    }),
  ),
  {
    situation: "a refused address: put away for a week, the document stays",
    before: visited(),
    completion: { outcome: "address" },
    dueIn: 7 * DAY,
    priority: 3,
  },
  ...[0, 1, 2, 3, 4].map(
    (failureCount): Row => ({
      situation: `failed ${failureCount + 1} times: again in ${2 ** failureCount} min`,
      before: url({ failureCount }),
      completion: { outcome: failureCount % 2 === 0 ? "failed" : "server-error", reason: "timeout" },
      dueIn: 2 ** failureCount * MINUTE,
      priority: 1,
      failureCount: failureCount + 1,
    }),
  ),
  {
    situation: "poisoned: perhaps the machine died three times, so it is tried again as any failure",
    before: url(),
    completion: { outcome: "poisoned" },
    dueIn: MINUTE,
    priority: 1,
    failureCount: 1,
  },
  {
    situation: "the retries are spent",
    before: url({ failureCount: limits.retries }),
    completion: { outcome: "server-error", status: 500 },
    dueIn: 30 * DAY,
    priority: 3,
  },
  {
    situation: "a retry waits for its host too",
    before: url(),
    completion: { outcome: "failed", reason: "connect", hostFreeAt: NOW + 10 * MINUTE },
    dueIn: 10 * MINUTE,
    priority: 1,
    failureCount: 1,
  },
  {
    situation: "throttled: as soon as the host is free (P11)",
    before: url(),
    completion: { outcome: "throttled", status: 429, hostFreeAt: NOW + 90_000 },
    dueIn: 90_000,
    priority: 1,
    failureCount: 1,
  },
  {
    situation: "throttled, the host free already",
    before: url(),
    completion: { outcome: "throttled", status: 429, hostFreeAt: NOW - 5 },
    dueIn: 0,
    priority: 1,
    failureCount: 1,
  },
  {
    situation: "throttled for the sixth time is no failure of the URL",
    before: url({ failureCount: limits.retries }),
    completion: { outcome: "throttled", status: 503 },
    dueIn: 0,
    priority: 1,
    failureCount: 6,
  },
  {
    situation: "throttled for ever is given up at last",
    before: url({ failureCount: limits.throttledRetries }),
    completion: { outcome: "throttled", status: 503 },
    dueIn: 30 * DAY,
    priority: 3,
  },
];

for (const { situation, before, completion, dueIn, priority, failureCount = 0, index, reparse, parseFailed } of table)
  test(`a completion: ${situation}`, () => {
    const { after } = complete(before, LEASE, completion, NOW);
    assert.equal(after.nextFetchAt - NOW, dueIn);
    assert.equal(after.priority, priority);
    assert.equal(after.failureCount, failureCount);
    assert.equal(after.marks?.index, index);
    assert.equal(after.marks?.reparse, reparse);
    assert.equal(after.marks?.parseFailed, parseFailed);
    assert.deepEqual(after.marks?.dueFrom, { priority: before.priority, dueAt: before.nextFetchAt });
    assert.equal(after.docVersion, before.docVersion + (index === undefined ? 0 : 1));
    assert.equal(after.indexed, index === undefined ? before.indexed : index === "upsert");
    assert.equal(after.version, before.version + 1);
    assert.equal(after.lastLeaseId, LEASE);
    assert.equal(after.lastOutcome, completion.outcome);
  });

test("a 304 keeps the hash, the links and the validators it does not repeat (C1, C9)", () => {
  const before = visited();
  const { after, changed } = complete(before, "l", { outcome: "unchanged", status: 304, sentAt, etag: '"two"' }, NOW);
  assert.equal(changed, false);
  assert.deepEqual(after.contentHash, before.contentHash);
  assert.deepEqual(after.linkSetHash, before.linkSetHash);
  assert.equal(after.etag, '"two"');
  assert.equal(after.lastModified, before.lastModified);
  assert.deepEqual(after.changeHistory?.at(-1), { afterMs: 10 * DAY, changed: false });
});

test("a new body brings its own validators or none", () => {
  const { after, changed } = complete(visited(), "l", { outcome: "fetched", sentAt, content: body(2), etag: '"b"' }, NOW);
  assert.equal(changed, true);
  assert.equal(after.etag, '"b"');
  assert.equal(after.lastModified, undefined);
  assert.deepEqual(after.contentHash, bytes(2));
  assert.deepEqual(after.linkSetHash, bytes(2, 8));
  assert.deepEqual(after.changeHistory?.at(-1), { afterMs: 10 * DAY, changed: true });
});

test("a failure after a good fetch keeps the good record (H7)", () => {
  const before = visited();
  for (const outcome of ["failed", "server-error", "throttled", "client-error", "refused-body", "address"] as const) {
    const { after } = complete(before, "l", { outcome }, NOW);
    for (const field of ["contentHash", "simHash", "linkSetHash", "etag", "lastModified", "indexed", "docVersion"] as const)
      assert.deepEqual(after[field], before[field], `${outcome} ${field}`);
  }
});

test("a document that was taken away is asked for without validators and parsed anew, so that it can come back", () => {
  for (const outcome of ["gone", "redirect", "robots"] as const) {
    const { after } = complete(visited(), "l", { outcome }, NOW);
    assert.deepEqual([after.etag, after.lastModified, after.linkSetHash], [undefined, undefined, undefined]);
    const back = complete(after, "m", { outcome: "unchanged", sentAt, content: body(1), etag: '"one"' }, NOW + DAY).after;
    assert.equal(back.marks?.index, "upsert");
    assert.deepEqual(back.linkSetHash, bytes(1, 8));
    assert.equal(back.etag, '"one"');
  }
});

test("what is held is looked at less often the longer its pattern is paused, keeps its class and failures, and forgets it when it is asked", () => {
  let record = visited({ failureCount: 2 });
  let now = NOW;
  const waits: number[] = [];
  for (let looks = 0; looks < 60; looks++) {
    const { after } = complete(record, LEASE, { outcome: "held" }, now);
    assert.deepEqual([after.priority, after.failureCount, after.heldSince], [record.priority, 2, NOW]);
    assert.equal(decode(urlState, encode(urlState, after)).heldSince, NOW);
    waits.push(after.nextFetchAt - now);
    now = after.nextFetchAt;
    record = after;
  }
  const spread = (wait: number) => Math.round(spreadWait(wait, LEASE) / MINUTE);
  assert.deepEqual(
    [waits[0], waits.at(-1)].map((wait) => Math.round(wait! / MINUTE)),
    [spread(60 * MINUTE), spread(DAY)],
  );
  assert.ok(now - NOW > 10 * DAY, "two weeks cost sixty completions, not three hundred");
  const { after } = complete(record, LEASE, { outcome: "unchanged", sentAt: now }, now);
  assert.equal(after.heldSince, undefined);
});

test("what the last answer said is not mixed with what an earlier one said", () => {
  const before = visited({ lastStatus: 503, lastReason: "timeout" });
  const { after } = complete(before, "l", { outcome: "failed", reason: "dns" }, NOW);
  assert.deepEqual([after.lastStatus, after.lastReason, after.lastFetchAt], [undefined, "dns", before.lastFetchAt]);
});

test("a lease completes once: the second time it is `already`, another lease is `stale` (F7)", () => {
  const before = url();
  const lease = { leaseId: "lease-9", version: 0 };
  assert.equal(priorResult(before, lease), undefined);
  const { after } = complete(before, "lease-9", { outcome: "gone" }, NOW);
  assert.equal(priorResult(after, lease), "already");
  assert.equal(priorResult(after, { leaseId: "lease-8", version: 0 }), "stale");
  assert.equal(priorResult(after, { leaseId: "lease-8", version: 1 }), undefined);
});

const parsed = { simHash: "0123456789abcdef", linkSetHash: bytes(5, 8), indexable: true };

test("a page that is parsed at last becomes a document, and nothing else of it changes", () => {
  const waiting = complete(url(), "l", { outcome: "fetched", content: { hash: bytes(1), reparse: true } }, NOW).after;
  const after = reparsed(waiting, parsed);
  assert.deepEqual(after, {
    ...waiting,
    simHash: Buffer.from(parsed.simHash, "hex"),
    linkSetHash: parsed.linkSetHash,
    docVersion: 1,
    indexed: true,
    marks: { dueFrom: waiting.marks?.dueFrom, index: "upsert" },
  });
});

test("a page that is parsed at last and is not to be indexed leaves no event, unless it was indexed", () => {
  const notIndexed = reparsed(url({ marks: { reparse: true } }), { ...parsed, indexable: false });
  assert.equal(notIndexed.marks, undefined);
  assert.equal(notIndexed.docVersion, 0);
  const taken = reparsed(visited({ marks: { reparse: true } }), { ...parsed, indexable: false });
  assert.deepEqual(taken.marks, { index: "delete" });
  assert.equal(taken.indexed, false);
});

test("a page that cannot be parsed trades its mark for one that stays, and says why where it said why before", () => {
  const { marks, ...rest } = url({ marks: { reparse: true, index: "upsert" }, lastReason: "parse-busy" });
  const failed = unparsed({ ...rest, marks: marks! }, "memory");
  assert.deepEqual(failed, { ...rest, marks: { index: "upsert", parseFailed: true }, lastReason: "parse-memory" });
  assert.deepEqual(unparsed(failed, "memory"), failed);
  assert.equal(unparsed(url({ lastReason: "timeout" }), "memory").lastReason, "timeout");
  assert.equal("lastReason" in unparsed(url(), "memory"), false);
  assert.deepEqual([owesParse(failed), owesParse(url({ marks: { index: "upsert" } })), owesParse(url())], [true, false, false]);
});

test("a page that is parsed at last has no reason of its parse left, and keeps any other", () => {
  const after = (lastReason: string) => reparsed(url({ marks: { parseFailed: true }, lastReason }), parsed);
  assert.deepEqual([after("parse-error").lastReason, after("parse-error").marks], [undefined, { index: "upsert" }]);
  assert.equal(after("timeout").lastReason, "timeout");
});

test("marks go one by one, and with the last the field", () => {
  const record = url({ marks: { dueFrom: { priority: 1, dueAt: 5 }, index: "upsert", reparse: true } });
  assert.deepEqual(unmarked(record, ["dueFrom", "index"]).marks, { reparse: true });
  assert.equal("marks" in unmarked(record, ["dueFrom", "index", "reparse"]), false);
  assert.equal(record.marks?.reparse, true, "the record given is left as it was");
});

const content = fc.option(
  fc.record({ hash: fc.nat(3).map((fill) => bytes(fill)), reparse: fc.boolean() }).chain((base) =>
    fc.oneof(
      fc.constant(base),
      fc.record({ indexable: fc.boolean(), simHash: fc.constant("0123456789abcdef") }).map((more) => ({ ...base, ...more })),
    ),
  ),
  { nil: undefined },
);
const completions: fc.Arbitrary<Completion> = fc
  .record({
    outcome: fc.constantFrom(...outcomes),
    content,
    sentAfter: fc.nat(60_000),
    freeAfter: fc.option(fc.nat(DAY), { nil: undefined }),
  })
  .map(({ outcome, content: kept, sentAfter, freeAfter }) => {
    const hasBody = outcome === "fetched" || (outcome === "unchanged" && kept !== undefined);
    return {
      outcome,
      sentAt: NOW + sentAfter,
      ...(hasBody ? { content: kept ?? { hash: bytes(0), reparse: false } } : {}),
      ...(freeAfter === undefined ? {} : { hostFreeAt: NOW + freeAfter }),
    };
  });

test("a life of completions: each raises the version by one, none is due before now, the record stays small and true", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(completions, fc.nat(3 * DAY)), { maxLength: 40 }), (life) => {
      let record = url();
      let now = NOW;
      for (const [completion, wait] of life) {
        const { after } = complete(record, "l", completion, now);
        assert.equal(after.version, record.version + 1);
        assert.ok(after.docVersion === record.docVersion || after.docVersion === record.docVersion + 1);
        assert.equal(after.docVersion > record.docVersion, after.marks?.index !== undefined);
        assert.ok(after.nextFetchAt >= now, "not before now");
        assert.ok(after.nextFetchAt > now || completion.outcome === "throttled");
        assert.ok(after.nextFetchAt <= now + Math.max(30 * DAY, (completion.hostFreeAt ?? 0) - now));
        assert.ok(priorityClasses.includes(after.priority as 0));
        assert.ok((after.changeHistory?.length ?? 0) <= limits.changeHistory);
        assert.equal(urlState.fault(after, ""), undefined);
        assert.deepEqual(decode(urlState, encode(urlState, after)), withPlainBytes(after));
        record = unmarked(after, ["dueFrom", "index"]);
        now = Math.max(now, after.nextFetchAt) + wait;
      }
    }),
    { numRuns: 200 },
  );
});

/** Buffers as the plain arrays that reading gives. */
function withPlainBytes(record: UrlState): UrlState {
  const { simHash, ...rest } = record;
  return simHash === undefined ? rest : { ...rest, simHash: new Uint8Array(simHash) };
}
