import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { StoreError } from "../../../ports/versioned-table.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { PROJECT, pulledFrom, testCrawl, texts } from "./pubsub-test-queue.ts";

const QUIET_MS = 300;

await cloudTests({ pubsub: true }, (emulators) => {
  const crawl = (context: TestContext, options = {}) => testCrawl(context, emulators().endpoint("pubsub"), options);

  // Most of their time is waited for deadlines: at the same time, then.
  describe("deliveries of Pub/Sub", { concurrency: true }, () => {
    test("a message is held for longer than its ack deadline, and is given to no other meanwhile", async (context) => {
      const { open } = await crawl(context, { ackDeadlineSeconds: 2 });
      const [one, other] = [open({ ackDeadlineSeconds: 2 }), open({ ackDeadlineSeconds: 2 })];
      await one.publish([Buffer.from("long work")]);
      const [[message], [more]] = await Promise.all([pulledFrom(one, 1, 4_000), pulledFrom(other, 1, 4_000)]);
      assert.ok((message === undefined) !== (more === undefined), "one of the two has it");
      const holder = message === undefined ? other : one;
      await holder.acknowledge([(message ?? more)!.id]);
      assert.deepEqual(await pulledFrom(one, 1, 2_500), []);
    });

    test("what a killed worker held comes to another after the deadline", async (context) => {
      const given = await crawl(context, { ackDeadlineSeconds: 2 });
      const { publisher } = given.client;
      const bodies = ["a", "b", "c"];
      await publisher.publish({
        topic: given.names.queues.host.topic,
        messages: bodies.map((text) => ({ data: Buffer.from(text) })),
      });
      const worker = startWorker(context, emulators().endpoint("pubsub"), given.prefix);
      const [printed] = (await once(worker.stdout!, "data")) as [Buffer];
      assert.match(printed.toString(), /^pulled/);
      const queue = given.open({ ackDeadlineSeconds: 2 });
      assert.deepEqual(await pulledFrom(queue, 1, 3_000), [], "the worker moves its deadlines on");
      worker.kill("SIGKILL");
      await once(worker, "exit");
      assert.deepEqual(texts(await pulledFrom(queue, bodies.length, 10_000)), bodies);
    });

    test("a closed queue gives back what it held and what it had fetched ahead, at once, and refuses further work", async (context) => {
      const { open } = await crawl(context);
      const first = open();
      await first.publish(["a", "b", "c"].map((text) => Buffer.from(text)));
      assert.equal((await pulledFrom(first, 1, 10_000, 1)).length, 1);
      await first.close();
      await first.close();
      for (const work of [first.publish([]), first.pull(1), first.acknowledge([]), first.release([])])
        await assert.rejects(work, (error) => error instanceof StoreError && error.message.includes("closed"));
      assert.deepEqual(texts(await pulledFrom(open(), 3, 10_000)), ["a", "b", "c"]);
    });

    test("a queue fetches 128 messages ahead and holds 1000, and leaves the others to others", async (context) => {
      const { open } = await crawl(context);
      const greedy = open();
      await greedy.publish(Array.from({ length: 1100 }, (_, at) => Buffer.from(`${at}`)));
      await pause(QUIET_MS); // its first pull
      const polite = open();
      const others = await pulledFrom(polite, 1100 - 128, 10_000);
      assert.equal(others.length, 1100 - 128);
      await polite.release(others.map(({ id }) => id));
      await polite.close();
      assert.equal((await pulledFrom(greedy, 1000, 10_000)).length, 1000);
      assert.deepEqual(await pulledFrom(greedy, 1, QUIET_MS), []);
      assert.equal((await pulledFrom(open(), 100, 10_000)).length, 100);
    });

    test("a message that is released as often as the policy allows is told of, and kept by the dead-letter subscription", async (context) => {
      const given = await crawl(context, { deliveriesMax: 5 });
      const queue = given.open({ deliveriesMax: 5 });
      await queue.publish([Buffer.from("poison"), Buffer.from("sound")]);
      for (let tries = 1; tries <= 5; tries++) {
        const messages = await pulledFrom(queue, tries === 1 ? 2 : 1, 10_000);
        const idOf = (text: string) => messages.filter(({ body }) => Buffer.from(body).toString() === text).map(({ id }) => id);
        await queue.acknowledge(idOf("sound"));
        await queue.release(idOf("poison"));
      }
      assert.deepEqual(await pulledFrom(queue, 1, QUIET_MS), []);
      assert.deepEqual(
        (await deadOf(given)).map(({ text }) => text),
        ["poison"],
      );
      const [line, ...more] = given.told.filter(({ level }) => level === "error");
      assert.deepEqual(more, []);
      assert.match(line!.message, /fails again and again/);
      const { queue: name, attempts, keptIn } = line!.fields;
      assert.deepEqual({ name, attempts, keptIn }, { name: "host", attempts: 5, keptIn: given.names.dead.topic });
    });

    test("what nobody can use is set aside at once: the dead-letter subscription has it", async (context) => {
      const given = await crawl(context);
      const queue = given.open();
      await queue.publish([Buffer.from("poison"), Buffer.from("sound")]);
      const messages = await pulledFrom(queue, 2, 10_000);
      await queue.setAside(messages.filter(({ body }) => String(Buffer.from(body)) === "poison").map(({ id }) => id));
      assert.deepEqual(
        (await deadOf(given)).map(({ text, attributes }) => [text, attributes.queue]),
        [["poison", "host"]],
      );
      assert.equal(await queue.depth(), 1);
    });

    test("where the service does not set a message aside, the queue does it, and gives it no more", async (context) => {
      const given = await crawl(context, { deliveriesMax: 100 });
      const queue = given.open({ deliveriesMax: 2 });
      await queue.publish([Buffer.from("poison")]);
      for (let tries = 1; tries <= 2; tries++) await queue.release((await pulledFrom(queue, 1, 10_000)).map(({ id }) => id));
      assert.deepEqual(await pulledFrom(queue, 1, QUIET_MS), []);
      const [dead] = await deadOf(given);
      assert.equal(dead?.text, "poison");
      assert.equal(dead?.attributes.queue, "host");
      assert.equal(dead?.attributes.attempts, "3");
      // Told when it is acknowledged, too.
      const isTold = () => given.told.some(({ message }) => /failed too often and is set aside/.test(message));
      for (const until = Date.now() + 10_000; !isTold() && Date.now() < until; ) await pause(20);
      assert.ok(isTold());
    });
  });
});

interface Dead {
  text: string;
  attributes: Record<string, string>;
}

/** What stands in the dead-letter subscription, once there is something. */
async function deadOf({ client, names }: Awaited<ReturnType<typeof testCrawl>>): Promise<Dead[]> {
  const [{ receivedMessages }] = await client.subscriber.pull({ subscription: names.dead.subscription, maxMessages: 10 });
  return (receivedMessages ?? []).map(({ message }) => ({
    text: Buffer.from(message!.data as Uint8Array).toString(),
    attributes: { ...message!.attributes },
  }));
}

function startWorker(context: TestContext, endpoint: string, prefix: string): ChildProcess {
  const script = new URL("./pubsub-worker.ts", import.meta.url).pathname;
  const worker = spawn(process.execPath, [script, endpoint, PROJECT, prefix], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => worker.kill("SIGKILL"));
  return worker;
}
