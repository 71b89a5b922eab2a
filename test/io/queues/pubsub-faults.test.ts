import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openPubsub } from "../../../io/queues/pubsub-client.ts";
import { type Asked, pubsubFault } from "../../../io/queues/pubsub-faults.ts";
import { pubsubNames } from "../../../io/queues/pubsub-names.ts";
import { StoreError } from "../../../ports/versioned-table.ts";

const pull: Asked = { project: "p", subscription: "projects/p/subscriptions/s", doing: "pull from" };
const publish: Asked = { project: "p", topic: "projects/p/topics/t", doing: "publish to" };

const cases: [what: string, code: number | undefined, message: string, asked: Asked, line: RegExp, final: boolean][] = [
  [
    "a missing subscription",
    5,
    "NOT_FOUND",
    pull,
    /subscription s of Pub\/Sub in project p does not exist: run npm run set-up/,
    true,
  ],
  ["a missing topic", 5, "NOT_FOUND", publish, /topic t of Pub\/Sub in project p does not exist/, true],
  ["no right to pull", 7, "denied", pull, /may not pull from subscription s .* give it roles\/pubsub.subscriber/, true],
  ["no right to publish", 7, "denied", publish, /may not publish to topic t .* give it roles\/pubsub.publisher/, true],
  ["a used-up quota", 8, "too many", publish, /the quota for topic t .* is used up: wait/, false],
  ["bad credentials", 16, "expired", pull, /no valid credentials for .*project p: run gcloud auth/, true],
  ["no credentials", undefined, "Could not load the default credentials", pull, /no valid credentials/, true],
  ["a key file that is not there", undefined, "The file at /x/key.json does not exist", pull, /no valid credentials/, true],
  ["no answer", 14, "ECONNREFUSED", publish, /topic t .* did not answer: .* may have arrived/, false],
  ["time over", 4, "Total timeout", publish, /did not answer/, false],
  ["a detached subscription", 9, "detached", pull, /not in a state to pull from it/, true],
  ["what the service refuses", 3, "bad", publish, /refused a request to publish to topic t/, false],
  ["what nobody thought of", undefined, "oops", pull, /refused a request.*oops/, false],
];
for (const [what, code, message, asked, line, final] of cases)
  test(`${what} is told with what was asked for and what to do`, () => {
    const error = pubsubFault(Object.assign(new Error(message), { code }), asked);
    assert.match(error.message, line);
    assert.ok(error.message.includes(message));
    assert.equal(error.final, final);
    assert.ok(!error.message.includes("\n"));
  });

test("a StoreError stays what it is, and whatever is thrown becomes one of bounded length", () => {
  const told = new StoreError("told");
  assert.equal(pubsubFault(told, pull), told);
  for (const thrown of [undefined, null, "text", 7, {}, new Error("x".repeat(100_000))])
    assert.ok(pubsubFault(thrown, pull).message.length < 1_000);
});

test("without credentials the client is not opened, and the line says how to get some", async (context) => {
  environment(context, {
    PUBSUB_EMULATOR_HOST: undefined,
    GOOGLE_APPLICATION_CREDENTIALS: "/nowhere/key.json",
    METADATA_SERVER_DETECTION: "none",
  });
  await assert.rejects(
    openPubsub({ project: "p" }),
    (error) =>
      error instanceof StoreError && error.final && /no valid credentials for Pub\/Sub in project p/.test(error.message),
  );
});

test("names begin with the crawl's, and a crawl's name that cannot begin one is refused in words", () => {
  const { queues, events, dead } = pubsubNames("p", "news");
  assert.equal(queues.discover.topic, "projects/p/topics/news-discover");
  assert.equal(queues.discover.subscription, "projects/p/subscriptions/news-discover");
  assert.equal(events.fetch.topic, "projects/p/topics/news-events-fetch");
  const all = [dead, ...Object.values(queues), ...Object.values(events)].flatMap(({ topic, subscription }) => [
    topic,
    subscription,
  ]);
  assert.equal(new Set(all).size, 14);
  for (const prefix of ["", "1st", "google", "a b", "a/b", "a\n", "x".repeat(201)])
    assert.throws(
      () => pubsubNames("p", prefix),
      (error) => error instanceof StoreError && error.final && /cannot begin/.test(error.message),
    );
});

/** Sets variables for one test. */
function environment(context: TestContext, variables: Readonly<Record<string, string | undefined>>): void {
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  const set = (values: Readonly<Record<string, string | undefined>>) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  set(variables);
  context.after(() => set(before));
}
