import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { PubsubClient } from "../../../io/queues/pubsub-client.ts";
import { DELIVERIES_MAX, pubsubNames } from "../../../io/queues/pubsub-names.ts";
import { setUpPubsub } from "../../../io/queues/pubsub-setup.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import type { EventKind } from "../../../schemas/events.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { PROJECT, testCrawl } from "./pubsub-test-queue.ts";

await cloudTests({ pubsub: true }, (emulators) => {
  const endpoint = () => emulators().endpoint("pubsub");

  test("a first run makes 7 topics and 10 subscriptions, two for each kind of event, a second one nothing", async (context) => {
    const { client, prefix } = await testCrawl(context, endpoint());
    const first = await setUpPubsub({ client, prefix: `${prefix}-other` });
    assert.equal(first.made.length, 17);
    assert.equal(new Set(first.made).size, 17);
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
    assert.deepEqual([made.length, changed.length], [0, 10]);
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

  test("with a bucket the second subscriptions of events write files where the daily pipeline looks, and without one they wait", async (context) => {
    const { client, prefix } = await testCrawl(context, endpoint());
    const asked = { client, prefix: `${prefix}-files`, bucket: "some-bucket" };
    await setUpPubsub(asked);
    for (const kind of KINDS) {
      const { filesSubscription: subscription, topic } = pubsubNames(PROJECT, asked.prefix).events[kind];
      const [made] = await client.subscriber.getSubscription({ subscription });
      const { bucket, filenamePrefix, filenameSuffix, filenameDatetimeFormat, textConfig } = made.cloudStorageConfig ?? {};
      assert.deepEqual(
        [made.topic, bucket, filenamePrefix, filenameDatetimeFormat, filenameSuffix, textConfig],
        [topic, "some-bucket", `events/${kind}/dt=`, "YYYY-MM-DD/hh_mm_ssZ", ".ndjson", {}],
      );
      // The service refuses one that ends before its file does.
      assert.ok(made.ackDeadlineSeconds! >= Number(made.cloudStorageConfig!.maxDuration!.seconds));
      const waiting = pubsubNames(PROJECT, prefix).events[kind].filesSubscription;
      assert.equal((await client.subscriber.getSubscription({ subscription: waiting }))[0].cloudStorageConfig, null);
    }
    assert.deepEqual(await setUpPubsub(asked), { made: [], changed: [] });
  });

  test("the subscription for files gets each event, too, and keeps it on an emulator, which writes none", async (context) => {
    const { client, prefix } = await testCrawl(context, endpoint());
    await setUpPubsub({ client, prefix: `${prefix}-kept`, bucket: "some-bucket" });
    const { topic, subscription, filesSubscription } = pubsubNames(PROJECT, `${prefix}-kept`).events.fetch;
    await client.publisher.publish({ topic, messages: [{ data: Buffer.from("{}") }] });
    for (const each of [subscription, filesSubscription]) {
      const [{ receivedMessages }] = await client.subscriber.pull({ subscription: each, maxMessages: 1 });
      assert.equal(receivedMessages?.length, 1, each);
    }
  });
});

const KINDS: readonly EventKind[] = ["fetch", "index", "skip"];

const differences: [told: string, stands: object | undefined, differs: boolean][] = [
  ["that is as it should be, told in the service's own words", {}, false],
  ["of before there were files", undefined, true],
  ["of another bucket", { bucket: "other" }, true],
  ["of another folder", { filenamePrefix: "events/" }, true],
  ["whose files end otherwise", { filenameSuffix: ".json" }, true],
  ["whose files are named otherwise", { filenameDatetimeFormat: "YYYY/MM/DD/hh_mm_ssZ" }, true],
  ["that writes Avro", { textConfig: null, avroConfig: {}, outputFormat: "avroConfig" }, true],
  ["that cuts files sooner", { maxDuration: { seconds: "60", nanos: 0 } }, true],
  ["that cuts files smaller", { maxBytes: "1000" }, true],
];

// The emulators do not take this change, so that the service is played here.
for (const [told, stands, differs] of differences)
  test(`a subscription for files ${told} is ${differs ? "changed" : "left"}`, async () => {
    const { client, updates } = standing(stands);
    const { changed } = await setUpPubsub({ client, prefix: "c", bucket: "b" });
    const files = KINDS.map((kind) => pubsubNames(PROJECT, "c").events[kind].filesSubscription);
    assert.deepEqual(changed.sort(), differs ? files : []);
    assert.deepEqual(
      updates,
      files.filter(() => differs).map((name) => ({ name, paths: ["cloud_storage_config"] })),
    );
  });

test("where Pub/Sub's own account may not write into the bucket, the fault says which rights it needs there", async () => {
  const { client } = standing({});
  const denied = Object.assign(new Error("denied"), { code: 7 });
  const createSubscription = client.subscriber.createSubscription as unknown as (wanted: { name: string }) => Promise<void>;
  const refusing = async (wanted: { name: string }) => {
    if (wanted.name.endsWith("-files")) throw denied;
    return createSubscription(wanted);
  };
  Object.assign(client.subscriber, { createSubscription: refusing });
  await assert.rejects(
    setUpPubsub({ client, prefix: "c", bucket: "some-bucket" }),
    /set up subscription c-events-\w+-files .*; Pub\/Sub's own account, .* needs roles\/storage.objectCreator and .* on the bucket some-bucket$/,
  );
});

/** A service where all stands; `files`: what differs in the subscriptions for files. Undefined: they write none. */
function standing(files: object | undefined) {
  const asked = new Map<string, Record<string, unknown>>();
  const updates: { name: string; paths: string[] }[] = [];
  const exists = () => Promise.reject(Object.assign(new Error("exists"), { code: 6 }));
  const subscriber = {
    createSubscription: (wanted: Record<string, unknown>) => {
      asked.set(String(wanted.name), wanted);
      return exists();
    },
    getSubscription: async ({ subscription }: { subscription: string }) => {
      const { cloudStorageConfig: config, ...wanted } = asked.get(subscription)!;
      if (config === undefined || files === undefined) return [{ ...wanted, cloudStorageConfig: null }];
      const served = { ...config, maxDuration: { seconds: "300", nanos: 0 }, maxBytes: "268435456", state: "ACTIVE" };
      return [{ ...wanted, cloudStorageConfig: { ...served, ...files } }];
    },
    updateSubscription: async ({
      subscription,
      updateMask,
    }: {
      subscription: { name: string };
      updateMask: { paths: string[] };
    }) => {
      updates.push({ name: subscription.name, paths: updateMask.paths });
    },
  };
  const client = { project: PROJECT, emulator: false, publisher: { createTopic: exists }, subscriber, repeated: {} };
  return { client: client as unknown as PubsubClient, updates };
}
