import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { PubsubQueue } from "../../../io/queues/pubsub-queue.ts";
import { setUpPubsub } from "../../../io/queues/pubsub-setup.ts";
import type { QueueMessage } from "../../../ports/queue.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { type GrpcFault, type GrpcFaultProxy, startGrpcFaultProxy } from "../../emulators/grpc-fault-proxy.ts";
import { pulledFrom, type TestCrawl, testCrawl, texts } from "./pubsub-test-queue.ts";

const SHORT = { ackDeadlineSeconds: 1 }; // so that what is lost comes again soon
const TOLD_MS = 15_000;
const UNAVAILABLE = 14;
const bodies = (...all: string[]) => all.map((text) => Buffer.from(text));

interface Weather extends TestCrawl {
  /** Faults of the next so many calls of a method; all by default. */
  plan(method: string, fault: GrpcFault, times?: number): void;
  clear(): void;
  proxy: GrpcFaultProxy;
}

await cloudTests({ pubsub: true }, (emulators) => {
  async function weather(context: TestContext, options: Parameters<typeof testCrawl>[2] = {}): Promise<Weather> {
    const plans = new Map<string, { fault: GrpcFault; times: number }>();
    const proxy = await startGrpcFaultProxy({
      target: emulators().endpoint("pubsub"),
      faults({ method }) {
        const plan = plans.get(method);
        return plan !== undefined && plan.times-- > 0 ? plan.fault : undefined;
      },
    });
    const closings: (() => unknown)[] = [];
    context.after(async () => {
      for (const close of closings) await close();
      await proxy.stop();
    });
    const crawl = await testCrawl({ after: (close) => void closings.push(close as () => unknown) }, proxy.endpoint, {
      ...SHORT,
      ...options,
    });
    proxy.reset();
    const plan: Weather["plan"] = (method, fault, times = Number.POSITIVE_INFINITY) => void plans.set(method, { fault, times });
    return { ...crawl, proxy, plan, clear: () => plans.clear() };
  }

  describe("Pub/Sub in bad weather", { concurrency: true }, () => {
    test("one publish of a thousand messages, and a hundred publishes at once, are one call each", async (context) => {
      const { open, proxy } = await weather(context);
      const queue = open();
      await queue.publish(Array.from({ length: 1000 }, (_, at) => Buffer.from(`${at}`)));
      assert.equal(proxy.counts().Publish, 1);
      proxy.reset();
      await Promise.all(Array.from({ length: 100 }, (_, at) => queue.publish([Buffer.from(`${at}`)])));
      assert.ok(proxy.counts().Publish! <= 2, `${proxy.counts().Publish} calls`);
    });

    test("a publish that is refused, or whose answer is lost, is sent again, and none is missing", async (context) => {
      const { open, plan, clear } = await weather(context);
      const queue = open(SHORT);
      plan("Publish", { kind: "refuse", code: UNAVAILABLE }, 2);
      await queue.publish(bodies("a"));
      plan("Publish", { kind: "lose-answer", code: UNAVAILABLE }, 1);
      await queue.publish(bodies("b"));
      clear();
      const got = await pulledFrom(queue, 3, 10_000);
      assert.deepEqual(texts(got), ["a", "b", "b"], "at least once: the lost answer's came twice");
      await queue.acknowledge(got.map(({ id }) => id));
      assert.equal(await queue.depth(), 0);
    });

    test("a publish that cannot be sent within its time is a StoreError that is not final, and does not count", async (context) => {
      const { open, plan } = await weather(context, { retryMs: 700 });
      const queue = open();
      plan("Publish", { kind: "refuse", code: UNAVAILABLE });
      await assert.rejects(
        queue.publish(bodies("a")),
        (error) => error instanceof StoreError && !error.final && /topic crawl-.*-host .*did not answer/.test(error.message),
      );
      assert.equal(await queue.depth(), 0);
    });

    test("a pull whose answer is lost, or that is carried out twice, only delays its messages", async (context) => {
      const { open, plan } = await weather(context);
      plan("Pull", { kind: "lose-answer", code: UNAVAILABLE }, 2);
      const queue = open(SHORT);
      await queue.publish(bodies("a", "b"));
      const got = await pulledFrom(queue, 2, 10_000);
      assert.deepEqual(texts(got), ["a", "b"]);
      await queue.acknowledge(got.map(({ id }) => id));
      plan("Pull", { kind: "double" }, 2);
      await queue.publish(bodies("c", "d"));
      assert.deepEqual(texts(await pulledFrom(queue, 2, 10_000)), ["c", "d"]);
      assert.deepEqual(await pulledFrom(queue, 1, 1_500), []);
    });

    test("an acknowledgement whose answer is lost holds; one that cannot be sent is told, and made up for when its message comes", async (context) => {
      const { open, plan, clear, proxy } = await weather(context, { retryMs: 700 });
      const queue = open(SHORT);
      await queue.publish(bodies("a", "b"));
      const [first, second] = await pulledFrom(queue, 2, 10_000);
      plan("Acknowledge", { kind: "lose-answer", code: UNAVAILABLE }, 1);
      await queue.acknowledge([first!.id]);
      plan("Acknowledge", { kind: "refuse", code: UNAVAILABLE });
      await assert.rejects(queue.acknowledge([second!.id]), (error) => error instanceof StoreError && !error.final);
      clear();
      proxy.reset();
      assert.deepEqual(await pulledFrom(queue, 1, 2_500), [], "neither comes to us again");
      assert.ok(proxy.counts().Acknowledge! >= 1, "the second was acknowledged when it did");
      assert.deepEqual(await pulledFrom(open(SHORT), 1, 1_500), [], "nor to another");
    });

    test("slow calls lose nothing", async (context) => {
      const { open, plan } = await weather(context);
      const queue = open();
      for (const method of ["Publish", "Acknowledge", "ModifyAckDeadline"]) plan(method, { kind: "slow", ms: 200 });
      await Promise.all(["a", "b", "c"].map((text) => queue.publish(bodies(text))));
      const got = await pulledFrom(queue, 3, 10_000);
      assert.deepEqual(texts(got), ["a", "b", "c"]);
      await queue.acknowledge(got.map(({ id }) => id));
      assert.equal(await queue.depth(), 0);
    });

    test("a service that does not answer is an empty queue for a while, then a StoreError; it goes on when it answers", async (context) => {
      const { open, plan, clear, told } = await weather(context);
      plan("Pull", { kind: "refuse", code: UNAVAILABLE });
      const queue = open({ outageMs: 1_000 });
      let woken = 0;
      queue.onArrival(() => woken++);
      await queue.publish(bodies("a"));
      assert.deepEqual(await queue.pull(1), []);
      assert.ok(!(await rejection(queue)).final);
      assert.ok(woken > 0, "who sleeps until messages come hears of it");
      clear();
      assert.deepEqual(texts(await recovered(queue, 1)), ["a"]);
      assert.deepEqual(
        told.map(({ message }) => message),
        ["no messages can be pulled; asking on", "Pub/Sub answers again"],
      );
    });

    const refusals: [what: string, code: number, line: RegExp][] = [
      ["permission denied", 7, /may not pull from subscription crawl-.*roles\/pubsub.subscriber/],
      ["bad credentials", 16, /no valid credentials for subscription crawl-/],
    ];
    for (const [what, code, line] of refusals)
      test(`${what} is told by the next pull`, async (context) => {
        const { open, plan } = await weather(context);
        plan("Pull", { kind: "refuse", code });
        const queue = open();
        const error = await rejection(queue);
        assert.ok(error.final);
        assert.match(error.message, line);
      });
  });

  // After the others: it takes the emulator from under them.
  test("an emulator that is killed and started again is empty: both ends say what is missing, and go on once it is set up", async (context) => {
    const crawl = await testCrawl(context, emulators().endpoint("pubsub"));
    const { client, prefix } = crawl;
    const queue = crawl.open();
    await queue.publish(bodies("held"));
    const [held] = await pulledFrom(queue, 1, 10_000);
    await emulators().kill("pubsub");
    const pending = queue.publish(bodies("waits"));
    pending.catch(() => undefined);
    await pause(700);
    assert.deepEqual(await queue.pull(1), [], "it waits");
    await emulators().restart("pubsub");
    const isMissing = (error: unknown, what: string) => {
      assert.ok(error instanceof StoreError && error.final);
      assert.match(error.message, new RegExp(`^${what} ${prefix}-host .*does not exist: run npm run set-up`));
      return true;
    };
    await assert.rejects(pending, (error) => isMissing(error, "topic"));
    isMissing(await rejection(queue), "subscription");
    assert.equal(await queue.depth(), 0, "what stood there, and was held, is gone");
    await setUpPubsub({ client, prefix });
    await queue.publish(bodies("new", "more"));
    const got = await recovered(queue, 2);
    assert.deepEqual(texts(got), ["more", "new"]);
    await queue.acknowledge([held!.id]); // of the life before: no error, and none of the new ones
    await queue.release(got.map(({ id }) => id));
    assert.deepEqual(texts(await pulledFrom(queue, 2, 10_000)), ["more", "new"]);
  });
});

/** The error of the first pull that rejects. */
async function rejection(queue: PubsubQueue): Promise<StoreError> {
  for (const until = Date.now() + TOLD_MS; Date.now() < until; await pause(20)) {
    try {
      await queue.pull(0);
    } catch (error) {
      assert.ok(error instanceof StoreError);
      return error;
    }
  }
  throw new Error(`no pull rejected within ${TOLD_MS} ms`);
}

/** What comes when it comes again; the errors on the way are those of the outage. */
async function recovered(queue: PubsubQueue, count: number): Promise<QueueMessage[]> {
  for (const until = Date.now() + TOLD_MS; Date.now() < until; await pause(20)) {
    try {
      if ((await queue.pull(0)).length === 0) return await pulledFrom(queue, count, TOLD_MS);
    } catch (error) {
      assert.ok(error instanceof StoreError);
    }
  }
  throw new Error(`still an outage after ${TOLD_MS} ms`);
}
