// Is every row of the tables read once, host by host with its own record, and few ranges at a time?
import assert from "node:assert/strict";
import { test } from "node:test";
import { newHost } from "../../../core/politeness/host-clock.ts";
import { keyRanges } from "../../../schemas/row-key.ts";
import { fewAtOnce } from "../../../transforms/daily/few-at-once.ts";
import { hostRuns, RUN_ROWS } from "../../../transforms/daily/host-runs.ts";
import { allKeyRanges, rowsOf } from "../../../transforms/daily/key-ranges.ts";
import { bundle } from "../contexts.ts";
import { givenCrawl } from "./given.ts";

test("the ranges cover every key once, in order", async (context) => {
  const emitted = bundle<{ ranges: never }>();
  await allKeyRanges.make({}, {}).process({}, emitted as never);
  assert.deepEqual(
    emitted.emitted.map(({ value }) => value),
    keyRanges,
  );
  assert.ok(keyRanges.every(({ from, to }, at) => from < to && (at === 0 || keyRanges[at - 1]!.to <= from)));
  const crawl = await givenCrawl(context);
  const urls = Array.from({ length: 300 }, (_, at) => ({ url: `http://h${at}.test/` }));
  await crawl.put(...urls);
  let rows = 0;
  for (const range of keyRanges) for await (const page of rowsOf(crawl.services.tables.urls, range)) rows += page.length;
  assert.equal(rows, 300);
});

test("each host comes with its own record, a large one in several runs, the last of them marked", async (context) => {
  const crawl = await givenCrawl(context);
  const large = RUN_ROWS + 7;
  await crawl.put(...Array.from({ length: large }, (_, at) => ({ url: `http://large.test/${at}` })));
  await crawl.put(...Array.from({ length: 200 }, (_, at) => ({ url: `http://h${at}.test/` })));
  await crawl.putHost("large.test", { ...newHost(1), pages: 77 });
  for (let at = 0; at < 200; at += 2) await crawl.putHost(`h${at}.test`, { ...newHost(1), pages: at });
  await crawl.putHost("nobody.test", { ...newHost(1), pages: 1 });
  const seen = new Map<string, { rows: number; pages: number | undefined; firsts: number; lasts: number }>();
  for (const range of keyRanges)
    for await (const { paceKey, host, rows, isFirst, isLast } of hostRuns(crawl.services.tables, range)) {
      const before = seen.get(paceKey) ?? { rows: 0, pages: undefined, firsts: 0, lasts: 0 };
      seen.set(paceKey, {
        rows: before.rows + rows.length,
        pages: host?.pages,
        firsts: before.firsts + Number(isFirst),
        lasts: before.lasts + Number(isLast),
      });
    }
  assert.equal(seen.size, 201);
  assert.deepEqual(seen.get("large.test"), { rows: large, pages: 77, firsts: 1, lasts: 1 });
  assert.deepEqual(seen.get("h4.test"), { rows: 1, pages: 4, firsts: 1, lasts: 1 });
  assert.deepEqual(seen.get("h5.test"), { rows: 1, pages: undefined, firsts: 1, lasts: 1 });
});

test("no more than so many work at once, in the order in which they came, and a failure frees its place", async () => {
  const turn = fewAtOnce(2);
  const begun: number[] = [];
  let [now, most] = [0, 0];
  const work = (id: number) => async () => {
    begun.push(id);
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    if (id === 1) throw new Error("one");
  };
  const ends = await Promise.allSettled([0, 1, 2, 3, 4].map((id) => turn(work(id))));
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  assert.equal(most, 2);
  assert.deepEqual(
    ends.map(({ status }) => status === "fulfilled"),
    [true, false, true, true, true],
  );
});
