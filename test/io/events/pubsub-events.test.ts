import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { pubsubEvents } from "../../../io/events/pubsub-events.ts";
import type { Events } from "../../../ports/events.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import type { EventKind, FetchEvent, IndexEvent, SkipEvent } from "../../../schemas/events.ts";
import { eventTables } from "../../../schemas/tables/event-tables.ts";
import { messageFault } from "../../../schemas/tables/message.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { startGrpcFaultProxy } from "../../emulators/grpc-fault-proxy.ts";
import { type TestCrawl, testCrawl } from "../queues/pubsub-test-queue.ts";

const AT = 1_796_000_000_000;
const fetched: FetchEvent = {
  ...{ at: AT, url: "https://example.test/é\u2028", urlId: "u", hostKey: "https://example.test", paceKey: "example.test" },
  ...{ kind: "page", leaseId: "l", version: 3, outcome: "fetched", status: 200, bodyBytes: 2 ** 40, offset: 0, links: 0 },
};
const indexed: IndexEvent = { at: AT, urlId: "u", docVersion: 1, op: "upsert", url: "https://example.test/", length: 10 };
const skipped: SkipEvent = {
  at: AT,
  hostKey: "https://example.test",
  reason: "robots",
  count: 2,
  samples: ["https://example.test/a"],
};

await cloudTests({ pubsub: true }, (emulators) => {
  async function opened(context: TestContext, endpoint = emulators().endpoint("pubsub")) {
    const crawl = await testCrawl(context, endpoint);
    const events = pubsubEvents({ client: crawl.client, names: crawl.names.events });
    context.after(() => events.close());
    return { crawl, events };
  }

  test("each event is a message on its kind's topic that BigQuery takes as a row of the kind's table, field by field", async (context) => {
    const { crawl, events } = await opened(context);
    await publishEach(events);
    const expected: Record<EventKind, object> = { fetch: fetched, index: indexed, skip: skipped };
    for (const { kind, columns } of eventTables) {
      const [line] = await linesOf(crawl, kind);
      assert.deepEqual(JSON.parse(line!), expected[kind]);
      assert.equal(messageFault(columns, line!), undefined);
    }
  });

  test("an event that is not of its kind's shape is our mistake, and none of its batch is sent", async (context) => {
    const { crawl, events } = await opened(context);
    await assert.rejects(events.publish("skip", [skipped, { ...skipped, count: -1 }]), { name: "AssertionError" });
    await events.publish("skip", []);
    await events.publish("skip", [{ ...skipped, count: 7 }]);
    assert.deepEqual(
      (await linesOf(crawl, "skip")).map((line) => JSON.parse(line).count),
      [7],
    );
  });

  test("a batch of events is one call, and events of many fetches share calls", async (context) => {
    const proxy = await startGrpcFaultProxy({ target: emulators().endpoint("pubsub") });
    context.after(() => proxy.stop());
    const { events } = await opened(context, proxy.endpoint);
    await events.publish(
      "fetch",
      Array.from({ length: 500 }, () => fetched),
    );
    assert.equal(proxy.counts().Publish, 1);
    await Promise.all(Array.from({ length: 100 }, () => events.publish("fetch", [fetched])));
    assert.ok(proxy.counts().Publish! <= 3, `${proxy.counts().Publish} calls`);
  });

  test("a topic that is missing is told by name; after a close nothing is sent", async (context) => {
    const { crawl, events } = await opened(context);
    await crawl.client.publisher.deleteTopic({ topic: crawl.names.events.fetch.topic });
    await assert.rejects(
      events.publish("fetch", [fetched]),
      (error) =>
        error instanceof StoreError && error.final && /topic crawl-.*-events-fetch .*does not exist/.test(error.message),
    );
    await events.close();
    await assert.rejects(
      events.publish("skip", [skipped]),
      (error) => error instanceof StoreError && /closed/.test(error.message),
    );
  });
});

async function publishEach(events: Events): Promise<void> {
  await Promise.all([
    events.publish("fetch", [fetched]),
    events.publish("index", [indexed]),
    events.publish("skip", [skipped]),
  ]);
}

async function linesOf({ client, names }: TestCrawl, kind: EventKind): Promise<string[]> {
  const [{ receivedMessages }] = await client.subscriber.pull({
    subscription: names.events[kind].subscription,
    maxMessages: 10,
  });
  return (receivedMessages ?? []).map(({ message }) => Buffer.from(message!.data as Uint8Array).toString());
}
