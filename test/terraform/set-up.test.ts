// Does the set-up command make the tables, topics and subscriptions that the Terraform makes? On emulators, both lists side by side.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock } from "../../io/clock.ts";
import { openPubsub } from "../../io/queues/pubsub-client.ts";
import { systemRandom } from "../../io/random.ts";
import { bigtableClient } from "../../io/stores/bigtable/client.ts";
import { openCloudStores, setUpCloudStores } from "../../pipelines/stores/cloud-stores.ts";
import { cloudTests } from "../emulators/cloud-tests.ts";
import { withEnvironment } from "../lib/cloud-crawl.ts";
import { namesFile } from "./generated-names.ts";
import { CRAWL, ofType, plannedCrawl } from "./planned-crawl.ts";

const { project, crawl } = CRAWL;
const PLACE = { project, crawl, instance: crawl, bucket: `${project}-${crawl}` };

await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
  let undo: () => void;
  before(async () => {
    undo = withEnvironment(emulators().env);
    await setUpCloudStores(PLACE, { clock: systemClock(), random: systemRandom(), location: "US", say: () => {} });
  });
  after(() => undo());

  test("set-up makes the tables that the Terraform makes, and no other", async () => {
    const client = bigtableClient(PLACE);
    const [tables] = await client.instance(PLACE.instance).getTables();
    const planned = ofType(await plannedCrawl(), "google_bigtable_table").map(({ name }) => name);
    assert.deepEqual(tables.map(({ id }) => id).sort(), planned.sort());
    await client.close();
  });

  test("set-up makes the topics and subscriptions that the Terraform makes, and no other", async () => {
    const client = await openPubsub({ project });
    const [topics] = await client.publisher.listTopics({ project: `projects/${project}` });
    const [subscriptions] = await client.subscriber.listSubscriptions({ project: `projects/${project}` });
    const plan = await plannedCrawl();
    const named = (type: string, folder: string) =>
      ofType(plan, type).map(({ name }) => `projects/${project}/${folder}/${name}`);
    assert.deepEqual(topics.map(({ name }) => name).sort(), named("google_pubsub_topic", "topics").sort());
    assert.deepEqual(subscriptions.map(({ name }) => name).sort(), named("google_pubsub_subscription", "subscriptions").sort());
    await client.close();
  });

  test("the folders whose pages and documents grow cold are those that a crawl writes to", async () => {
    const [clock, random] = [systemClock(), systemRandom()];
    const ignored = { count: () => {}, gauge: () => {}, observe: () => {} };
    const warcinfo = () => ({ id: "", at: 0, filename: "", fields: {} }) as never;
    const stores = await openCloudStores(PLACE, { clock, random, metrics: ignored, log: () => {}, warcinfo });
    const { pages, documents } = (JSON.parse(namesFile()) as { objects: Record<"pages" | "documents", { folder: string }> })
      .objects;
    assert.equal(stores.output.pages, `gs://${PLACE.bucket}/${pages.folder}`);
    assert.equal(stores.output.documents, `gs://${PLACE.bucket}/${documents.folder}`);
    await stores.close();
  });
});
