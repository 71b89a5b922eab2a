// Does what a server said of its page reach the parser?
import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../../../schemas/limits.ts";
import { parseRequestOf } from "../../../transforms/fetch/parse-request.ts";
import { crawlConfig, discoveries, world } from "../world.ts";
import { addUrl, allowAll, PAGE, pageLease, runLease } from "./leases.ts";

const bytes = Buffer.from("x");
const plain = { url: PAGE, bytes, contentType: "", robotsTags: [], productToken: "OurBot", document: true };

test("a page of no headers is asked for plainly; each header that counts becomes its field", () => {
  assert.deepEqual(parseRequestOf({ url: PAGE, headers: [], bytes }, crawlConfig()), plain);
  const headers: [string, string][] = [
    ["X-Robots-Tag", "noindex"],
    ["CONTENT-TYPE", " text/html "],
    ["x-content-type-options", "NOSNIFF"],
    ["x-robots-tag", "nofollow"],
  ];
  const full = { contentType: "text/html", robotsTags: ["noindex", "nofollow"], noSniff: true };
  assert.deepEqual(parseRequestOf({ url: PAGE, headers, bytes }, crawlConfig()), { ...plain, ...full });
});

test("a policy may shorten the time, and only shorten it", () => {
  const timeMs = (parseMs: number) => {
    const policies = [{ host: "a.test", limits: { parseMs } }];
    return parseRequestOf({ url: PAGE, headers: [], bytes }, crawlConfig({ policies })).timeMs;
  };
  assert.deepEqual([timeMs(500), timeMs(limits.parseMs), timeMs(2 * limits.parseMs)], [500, undefined, undefined]);
});

test("a page without a type is read as what it looks like, and as text where its server forbids to guess", async () => {
  for (const [headers, links] of [
    [{}, ["http://a.test/next"]],
    [{ "x-content-type-options": "nosniff" }, []],
  ] as const) {
    const given = world({ site: { [PAGE]: { status: 200, headers, body: '<html><a href="/next">next</a>' } } });
    await allowAll(given.services);
    await addUrl(given.services);
    await runLease(given, pageLease());
    assert.deepEqual(
      (await discoveries(given)).flatMap(({ urls }) => urls),
      links,
    );
    assert.equal(given.documents.lines.length, 1);
  }
});
