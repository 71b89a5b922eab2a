// What must hold of every queue, whatever keeps it? Registers one suite for one adapter.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Queue } from "../../ports/queue.ts";
import { StoreError } from "../../ports/versioned-table.ts";

export interface MadeQueue {
  queue: Queue;
  close(): Promise<void>;
}

const ALL = 10_000; // more than any test publishes
const MIB = 1024 * 1024;

/** `make` gives an empty queue, for each test a new one. */
export function queueContract(name: string, make: () => Promise<MadeQueue>): void {
  const on = (situation: string, run: (queue: Queue) => Promise<void>): void => {
    test(situation, async () => {
      const made = await make();
      try {
        await run(made.queue);
      } finally {
        await made.close();
      }
    });
  };
  describe(`queue: ${name}`, () => {
    deliveries(on);
    acknowledgements(on);
    arrivals(on);
    on("any run of operations loses no message, gives none to two, and keeps the depth", model);
  });
}

type On = (situation: string, run: (queue: Queue) => Promise<void>) => void;

function deliveries(on: On): void {
  on("an empty queue gives no message and has depth 0", async (queue) => {
    assert.deepEqual(await queue.pull(10), []);
    assert.equal(await queue.depth(), 0);
  });

  on("what was published is pulled once, byte by byte the same", async (queue) => {
    const bodies = [Buffer.alloc(0), Buffer.from([0, 255, 128]), Buffer.alloc(MIB, 7), Buffer.from("é")];
    await queue.publish(bodies);
    const messages = await queue.pull(ALL);
    assert.equal(new Set(messages.map(({ id }) => id)).size, bodies.length);
    assert.deepEqual(sortedText(messages.map(({ body }) => body)), sortedText(bodies));
    assert.deepEqual(await queue.pull(ALL), []);
  });

  on("publishing nothing changes nothing", async (queue) => {
    await queue.publish([]);
    await queue.acknowledge([]);
    await queue.release([]);
    assert.equal(await queue.depth(), 0);
  });

  on("a pull gives as many as asked for, none for 0, the rest later", async (queue) => {
    await publish(queue, 10);
    assert.equal((await queue.pull(0)).length, 0);
    assert.equal((await queue.pull(-1)).length, 0);
    assert.equal((await queue.pull(4)).length, 4);
    assert.equal((await queue.pull(4)).length, 4);
    assert.equal((await queue.pull(4)).length, 2);
  });

  on("concurrent pulls share the messages and give none to two", async (queue) => {
    await publish(queue, 100);
    const pulled = (await Promise.all(Array.from({ length: 20 }, () => queue.pull(7)))).flat();
    assert.equal(pulled.length, 100);
    assert.equal(new Set(pulled.map(({ id }) => id)).size, 100);
  });

  on("concurrent publishes are all kept", async (queue) => {
    await Promise.all(Array.from({ length: 50 }, (_, at) => queue.publish([Buffer.from(`message ${at}`)])));
    assert.equal(new Set((await queue.pull(ALL)).map(({ body }) => Buffer.from(body).toString())).size, 50);
  });

  on("thousands of messages are pulled in turns while more come", async (queue) => {
    const seen = new Set<string>();
    for (let turn = 0; turn < 30; turn++) {
      await publish(queue, 100);
      const messages = await queue.pull(90);
      for (const { id } of messages) seen.add(id);
      await queue.acknowledge(messages.map(({ id }) => id));
    }
    for (const { id } of await queue.pull(ALL)) seen.add(id);
    assert.equal(seen.size, 3000);
  });

  on("bytes that the caller changes after publishing or pulling change no message", async (queue) => {
    const body = Buffer.from("before");
    const publishing = queue.publish([body]);
    body.fill(0);
    await publishing;
    const [first] = await queue.pull(1);
    first!.body.fill(0);
    await queue.release([first!.id]);
    assert.equal(Buffer.from((await queue.pull(1))[0]!.body).toString(), "before");
  });

  on("a body that is not bytes is refused with StoreError", async (queue) => {
    await assert.rejects(queue.publish(["text" as never]), (error) => error instanceof StoreError && !error.final);
    assert.equal(await queue.depth(), 0);
  });
}

function acknowledgements(on: On): void {
  on("an acknowledged message does not come again, released or not", async (queue) => {
    await publish(queue, 3);
    const [first, second] = await queue.pull(2);
    await queue.acknowledge([first!.id]);
    await queue.release([second!.id]);
    await queue.acknowledge([second!.id]);
    await queue.release([first!.id, second!.id]);
    const rest = await queue.pull(ALL);
    assert.equal(rest.length, 1);
    assert.ok(![first!.id, second!.id].includes(rest[0]!.id));
    assert.equal(await queue.depth(), 1);
  });

  on("a released message comes again with the same id, and once", async (queue) => {
    await publish(queue, 2);
    const pulled = await queue.pull(2);
    const ids = pulled.map(({ id }) => id);
    await queue.release(ids);
    await queue.release(ids);
    const again = await queue.pull(ALL);
    assert.deepEqual(again.map(({ id }) => id).sort(), ids.sort());
  });

  on("a message that nobody pulled cannot be doubled by a release", async (queue) => {
    await publish(queue, 2);
    const [first] = await queue.pull(1);
    await queue.release([first!.id]);
    await queue.release([first!.id, "1", "2", "3", "unknown", ""]);
    assert.equal((await queue.pull(ALL)).length, 2);
  });

  on("unknown ids are no error", async (queue) => {
    await publish(queue, 1);
    await queue.acknowledge(["999999", "unknown", "", "-1", "1e400"]);
    assert.equal(await queue.depth(), 1);
  });

  on("the depth counts held messages until they are acknowledged, each once", async (queue) => {
    await publish(queue, 5);
    assert.equal(await queue.depth(), 5);
    const ids = (await queue.pull(3)).map(({ id }) => id);
    assert.equal(await queue.depth(), 5);
    await queue.acknowledge(ids.slice(0, 2));
    await queue.acknowledge(ids.slice(0, 2));
    assert.equal(await queue.depth(), 3);
    await queue.release(ids.slice(2));
    await publish(queue, 1);
    assert.equal(await queue.depth(), 4);
  });
}

function arrivals(on: On): void {
  on("whoever listens is woken after a publish and a release, until they stop", async (queue) => {
    const woken = { first: 0, second: 0 };
    const stop = queue.onArrival(() => woken.first++);
    queue.onArrival(() => woken.second++);
    await publish(queue, 1);
    assert.ok(woken.first > 0 && woken.second > 0);
    const before = woken.first;
    await queue.release((await queue.pull(1)).map(({ id }) => id));
    assert.ok(woken.first > before);
    stop();
    stop();
    const stopped = { ...woken };
    await publish(queue, 1);
    assert.equal(woken.first, stopped.first);
    assert.ok(woken.second > stopped.second);
  });

  on("a listener that pulls when it is woken finds the message", async (queue) => {
    let found: Promise<unknown[]> | undefined;
    queue.onArrival(() => {
      found ??= queue.pull(1);
    });
    await publish(queue, 1);
    assert.equal((await found)?.length, 1);
  });
}

type Step = { kind: "publish" | "pull" | "acknowledge" | "release"; count: number };
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("publish", "pull", "acknowledge", "release"),
  count: fc.nat(5),
});

async function model(queue: Queue): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const waiting = new Set<string>(); // bodies, each of its own
      const held = new Map<string, string>(); // id to body
      for (const { kind, count } of steps) {
        const ids = [...held.keys()].slice(0, count);
        if (kind === "publish") {
          for (const body of await publish(queue, count)) waiting.add(body);
        } else if (kind === "pull") {
          const pulled = await queue.pull(count);
          assert.equal(pulled.length, Math.min(count, waiting.size));
          for (const { id, body } of pulled) {
            const text = Buffer.from(body).toString();
            assert.ok(waiting.delete(text) && !held.has(id));
            held.set(id, text);
          }
        } else {
          if (kind === "release") for (const id of ids) waiting.add(held.get(id)!);
          await queue[kind](ids);
          for (const id of ids) held.delete(id);
        }
        assert.equal(await queue.depth(), waiting.size + held.size);
      }
      await queue.acknowledge([...held.keys(), ...(await queue.pull(ALL)).map(({ id }) => id)]);
      assert.equal(await queue.depth(), 0);
    }),
    { numRuns: 40 },
  );
}

let published = 0;

async function publish(queue: Queue, count: number): Promise<string[]> {
  const bodies = Array.from({ length: count }, () => `message ${++published}`);
  await queue.publish(bodies.map((body) => Buffer.from(body)));
  return bodies;
}

function sortedText(bodies: readonly Uint8Array[]): string[] {
  return bodies.map((body) => Buffer.from(body).toString("latin1")).sort();
}
