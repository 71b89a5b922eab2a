// Is a server's answer put into the words of core/robots: its headers, the body, and what of a body that has no end counts?
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, BodyLimits } from "../../../ports/http.ts";
import { limits } from "../../../schemas/limits.ts";
import type { BodyEnd } from "../../../schemas/reasons.ts";
import { asAnswer, readRules } from "../../../transforms/fetch/robots-answer.ts";

const URL_OF = "http://a.test/robots.txt";
const AT = Date.UTC(2030, 0, 1);
const bytes = Buffer.from("User-agent: *\n");

function answer(change: Partial<Answer> = {}): Answer {
  return {
    ok: true,
    status: 200,
    statusText: "",
    httpVersion: "1.1",
    headers: [],
    requestHeaders: [],
    sentAt: AT - 9,
    answeredAt: AT,
    body: async () => ({ ok: true, bytes, wireBytes: bytes.length, endedAt: AT }),
    discard() {},
    ...change,
  };
}

/** A body that ends early, after its beginning was given where there is one. */
const ending = (reason: BodyEnd, beginning?: Uint8Array) =>
  answer({
    async body({ keep }: BodyLimits) {
      if (beginning !== undefined) keep?.(beginning);
      return { ok: false, reason, detail: "", wireBytes: 9, endedAt: AT };
    },
  });

test("the headers that count are taken, those that are absent left out", () => {
  assert.deepEqual(asAnswer(URL_OF, answer({ status: 404 }), undefined), { kind: "response", url: URL_OF, status: 404 });
  const headers: [string, string][] = [
    ["Location", "/r"],
    ["ETag", '"1"'],
    ["Last-Modified", "Tue, 01 Jan 2030 00:00:00 GMT"],
    ["Cache-Control", "max-age=60"],
    ["Retry-After", "5"],
  ];
  assert.deepEqual(asAnswer(URL_OF, answer({ status: 301, headers }), undefined), {
    kind: "response",
    url: URL_OF,
    status: 301,
    location: "/r",
    etag: '"1"',
    lastModified: "Tue, 01 Jan 2030 00:00:00 GMT",
    maxAgeMs: 60_000,
    retryAfterMs: 5_000,
  });
});

test("a whole body is given; of one beyond the limit the beginning, as cut; one that ends otherwise is a failure", async () => {
  const told = async (from: Answer) => asAnswer(URL_OF, from, await readRules(from));
  const response = { kind: "response", url: URL_OF, status: 200 };
  assert.deepEqual(await told(answer()), { ...response, body: bytes });
  assert.deepEqual(await told(ending("decoded-bytes", bytes)), { ...response, body: bytes, cut: true });
  assert.deepEqual(await told(ending("wire-bytes", new Uint8Array())), { ...response, body: new Uint8Array(), cut: true });
  for (const reason of ["body-timeout", "body-reset", "encoding", "decoded-bytes"] as const)
    assert.deepEqual(await told(ending(reason)), { kind: "failure", reason });
});

test("no more than the standard's limit is asked for", async () => {
  let asked: BodyLimits | undefined;
  const from = answer();
  const { body } = from;
  await readRules({
    ...from,
    body(given) {
      asked = given;
      return body(given);
    },
  });
  assert.deepEqual([asked?.decodedBytes, typeof asked?.keep], [limits.robotsBytes, "function"]);
});
