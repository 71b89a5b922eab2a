import assert from "node:assert/strict";
import { test } from "node:test";
import { contentHash } from "../../../core/content/digest.ts";
import { sleep } from "../../../ports/clock.ts";
import type { Answer } from "../../../ports/http.ts";
import { contentKey, storeBody, storeUnchanged } from "../../../transforms/fetch/store.ts";
import { visited } from "../../core/frontier/given.ts";
import { START, world } from "../world.ts";
import { pageLease } from "./leases.ts";

const body = Buffer.from("<p>one</p>");
const hash = contentHash(body);

function facts(url: string) {
  const answer = {
    ok: true,
    status: 200,
    statusText: "OK",
    httpVersion: "1.1",
    headers: [["Content-Type", "text/html"]],
    requestHeaders: [["User-Agent", "OurBot/1.0"]],
    sentAt: START,
    answeredAt: START + 5,
  } as unknown as Answer;
  return { lease: pageLease({ url }), answer, address: "127.0.0.1" };
}

test("two workers that store the same new body at once end with one reference", async () => {
  const given = world();
  const { archive, clock } = given;
  const slow = {
    ...given.services,
    archive: {
      ...archive,
      append: (records: Parameters<typeof archive.append>[0]) => sleep(clock, 10).then(() => archive.append(records)),
    },
  };
  const both = Promise.all([
    storeBody(slow, facts("http://a.test/1"), body, hash),
    storeBody(slow, facts("http://a.test/2"), body, hash),
  ]);
  await clock.run(START + 100);
  const [one, two] = await both;
  assert.deepEqual(one, two);
  const [row] = await given.services.tables.content.get([contentKey(hash)]);
  assert.deepEqual(row?.value, one);
});

test("a reference is inserted only when the body is durable", async () => {
  const given = world();
  const broken = {
    ...given.services,
    archive: { ...given.archive, append: async () => Promise.reject(new Error("disk full")) },
  };
  await assert.rejects(storeBody(broken, facts("http://a.test/1"), body, hash), /disk full/);
  assert.deepEqual(await given.services.tables.content.get([contentKey(hash)]), [undefined]);
});

test("a 304 is kept as a capture that refers to the body; without one to refer to there is none", async () => {
  const given = world();
  const before = visited({ contentHash: hash });
  await storeUnchanged(given.services, { ...facts("http://a.test/1"), before });
  assert.equal(given.archive.records().length, 0);
  await storeBody(given.services, facts("http://a.test/1"), body, hash);
  await storeUnchanged(given.services, { ...facts("http://a.test/1"), before });
  const last = Buffer.concat(given.archive.records().at(-1)!.bytes).toString();
  assert.match(last, /WARC-Type: revisit[\s\S]*WARC-Refers-To-Target-URI: http:\/\/a\.test\/1/);
  const digestOf = (text: string) => /WARC-Payload-Digest: (\S+)/.exec(text)?.[1];
  const first = Buffer.concat(given.archive.records()[1]!.bytes).toString();
  assert.ok(digestOf(first) !== undefined);
  assert.equal(digestOf(last), digestOf(first), "the payload it vouches for, not one of no bytes (C9)");
});
