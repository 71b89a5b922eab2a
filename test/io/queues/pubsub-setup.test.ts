import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DELIVERIES_MAX, pubsubNames } from "../../../io/queues/pubsub-names.ts";
import { setUpPubsub } from "../../../io/queues/pubsub-setup.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { PROJECT, testCrawl } from "./pubsub-test-queue.ts";

await cloudTests({ pubsub: true }, (emulators) => {
  const endpoint = () => emulators().endpoint("pubsub");

  test("a first run makes 7 topics and 7 subscriptions, a second one nothing", async (context) => {
    const { client, prefix } = await testCrawl(context, endpoint());
    const first = await setUpPubsub({ client, prefix: `${prefix}-other` });
    assert.equal(first.made.length, 14);
    assert.equal(new Set(first.made).size, 14);
    assert.deepEqual(await setUpPubsub({ client, prefix: `${prefix}-other` }), { made: [], changed: [] });
  });

  test("two runs at the same time both end well", async (context) => {
    const { client, prefix } = await testCrawl(context, endpoint());
    const again = { client, prefix: `${prefix}-both` };
    await Promise.all([setUpPubsub(again), setUpPubsub(again)]);
    assert.deepEqual(await setUpPubsub(again), { made: [], changed: [] });
  });

  test("subscriptions never expire, do not order, and send what fails often to the dead-letter topic, whose own keeps it", async (context) => {
    const { client, names } = await testCrawl(context, endpoint());
    const [host] = await client.subscriber.getSubscription({ subscription: names.queues.host.subscription });
    assert.deepEqual(host.deadLetterPolicy, { deadLetterTopic: names.dead.topic, maxDeliveryAttempts: DELIVERIES_MAX });
    assert.equal(host.expirationPolicy?.ttl, null);
    assert.equal(host.enableMessageOrdering, false);
    assert.equal(host.ackDeadlineSeconds, 30);
    const [dead] = await client.subscriber.getSubscription({ subscription: names.dead.subscription });
    assert.equal(dead.deadLetterPolicy ?? undefined, undefined);
  });

  test("a run with other numbers changes the subscriptions that stand, and the next finds nothing to change", async (context) => {
    const { client, prefix, names } = await testCrawl(context, endpoint());
    const other = { client, prefix, ackDeadlineSeconds: 60, deliveriesMax: 50 };
    const { made, changed } = await setUpPubsub(other);
    assert.deepEqual([made.length, changed.length], [0, 7]);
    const [host] = await client.subscriber.getSubscription({ subscription: names.queues.host.subscription });
    assert.deepEqual([host.ackDeadlineSeconds, host.deadLetterPolicy?.maxDeliveryAttempts], [60, 50]);
    assert.deepEqual(await setUpPubsub(other), { made: [], changed: [] });
  });

  test("a subscription of the name that reads another topic is refused in words", async (context) => {
    const { client, prefix, names } = await testCrawl(context, endpoint());
    const other = pubsubNames(PROJECT, `${prefix}-taken`);
    await client.subscriber.createSubscription({ name: other.queues.host.subscription, topic: names.dead.topic });
    await assert.rejects(
      setUpPubsub({ client, prefix: `${prefix}-taken` }),
      (error) =>
        error instanceof StoreError &&
        error.final &&
        /-host reads .*-dead, not this crawl's topic: delete it/.test(error.message),
    );
  });

  test("with a dataset the events' subscriptions write BigQuery's tables as schemas/tables has them", async (context) => {
    const { client, prefix } = await testCrawl(context, endpoint());
    await setUpPubsub({ client, prefix: `${prefix}-rows`, dataset: "crawl" });
    const { subscription, tables } = JSON.parse(
      await readFile(join(import.meta.dirname, "../../../schemas/tables/tables.json"), "utf8"),
    );
    for (const { kind, name } of tables as { kind: "fetch" | "index" | "skip"; name: string }[]) {
      const [made] = await client.subscriber.getSubscription({
        subscription: pubsubNames(PROJECT, `${prefix}-rows`).events[kind].subscription,
      });
      const { table, ...how } = made.bigqueryConfig ?? {};
      assert.equal(table, `${PROJECT}.crawl.${name}`);
      assert.deepEqual(
        Object.fromEntries(Object.keys(subscription).map((key) => [key, how[key as keyof typeof how]])),
        subscription,
      );
    }
  });
});
