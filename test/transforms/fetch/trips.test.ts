// How many trips to the stores does a lease wait for, one after the other, until its URL is completed?
import assert from "node:assert/strict";
import { test } from "node:test";
import { newHost } from "../../../core/politeness/host-clock.ts";
import { sleep } from "../../../ports/clock.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import { robotsReader } from "../../../transforms/robots-reader.ts";
import type { CrawlServices, Tables } from "../../../transforms/services.ts";
import type { Reply } from "../fake-web.ts";
import { START, urlRecord, type WorldOptions, world } from "../world.ts";
import { addUrl, allowAll, LINKED, PAGE, PAGE_ID, pageLease, runLease, type World } from "./leases.ts";

/** The design's bound; Bigtable is a few milliseconds away. */
const TRIPS_MAX = 6;

/** The same services, a millisecond away for each call of a table. `completed`: when the URL's record had been written first, Unix ms. */
function away({ clock, services, config }: World): { services: CrawlServices; completed: () => number } {
  let completedAt = Number.POSITIVE_INFINITY;
  const far = <T extends object>(table: T, isUrls: boolean): T =>
    new Proxy(table, {
      get: (near, name) => {
        const call = Reflect.get(near, name) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) => {
          await sleep(clock, 1);
          const answer = await call(...args);
          if (isUrls && name === "compareAndSet") completedAt = Math.min(completedAt, clock.now());
          return answer;
        };
      },
    });
  const tables = Object.fromEntries(
    Object.entries(services.tables).map(([name, table]) => [name, far(table, name === "urls")]),
  ) as unknown as Tables;
  const robots = robotsReader(tables.robots, config.productToken);
  return { services: { ...services, tables, robots }, completed: () => completedAt };
}

const cases: [situation: string, reply: Reply, before: Parameters<typeof addUrl>[1], trips: number][] = [
  ["a page that nobody has had before", LINKED, {}, TRIPS_MAX],
  ["a page that is gone", { status: 404 }, {}, 4],
  ["a page that has not changed", { status: 304 }, { etag: '"1"' }, 4],
];

for (const [situation, reply, before, trips] of cases)
  test(`${situation}: ${trips} trips in a row from grant to completion`, async () => {
    const options: WorldOptions = { site: { [PAGE]: reply } };
    const given = world(options);
    await addUrl(given.services, before);
    await allowAll(given.services);
    await given.services.tables.hosts.insertIfAbsent([{ key: rowKey("a.test"), value: newHost(1) }]); // as robots.txt left it
    const { services, completed } = away(given);
    await runLease(given, pageLease(), services);
    assert.equal((await urlRecord(given, "a.test", PAGE_ID))?.version, 1);
    assert.equal(completed() - START, trips);
    assert.ok(trips <= TRIPS_MAX);
  });
