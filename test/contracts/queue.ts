// What must hold of every queue, whatever keeps it? Registers one suite for one adapter. Of a queue that answers at once all holds at once,
// of one on a service within a bounded time.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Queue } from "../../ports/queue.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { ALL, atOnce, type Bounds, inTime, type Subject } from "./queue-subject.ts";

export interface MadeQueue {
  queue: Queue;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;

/** `make` gives an empty queue, for each test a new one. Without bounds the queue is one that answers at once. */
export function queueContract(name: string, make: () => Promise<MadeQueue>, bounds?: Bounds): void {
  const on = (situation: string, run: (subject: Subject) => Promise<void>): void => {
    test(situation, async () => {
      const made = await make();
      try {
        await run(bounds === undefined ? atOnce(made.queue) : inTime(made.queue, bounds));
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

type On = (situation: string, run: (subject: Subject) => Promise<void>) => void;

function deliveries(on: On): void {
  on("an empty queue gives no message and has depth 0", async ({ pullsNone, depthIs }) => {
    await pullsNone();
    await depthIs(0);
  });

  on("what was published is pulled once, byte by byte the same", async ({ queue, pull, pullsNone }) => {
    const bodies = [Buffer.alloc(0), Buffer.from([0, 255, 128]), Buffer.alloc(MIB, 7), Buffer.from("é")];
    await queue.publish(bodies);
    const messages = await pull(ALL, bodies.length);
    assert.equal(new Set(messages.map(({ id }) => id)).size, bodies.length);
    assert.deepEqual(sortedText(messages.map(({ body }) => body)), sortedText(bodies));
    await pullsNone();
  });

  on("publishing nothing changes nothing", async ({ queue, depthIs }) => {
    await queue.publish([]);
    await queue.acknowledge([]);
    await queue.release([]);
    await depthIs(0);
  });

  on("a pull gives as many as asked for, none for 0, the rest later", async ({ queue, pull }) => {
    await publish(queue, 10);
    assert.equal((await queue.pull(0)).length, 0);
    assert.equal((await queue.pull(-1)).length, 0);
    assert.equal((await pull(4, 4)).length, 4);
    assert.equal((await pull(4, 4)).length, 4);
    assert.equal((await pull(4, 2)).length, 2);
  });

  on("concurrent pulls share the messages and give none to two", async ({ queue, pullSideBySide }) => {
    await publish(queue, 100);
    const pulled = await pullSideBySide(20, 7, 100);
    assert.equal(pulled.length, 100);
    assert.equal(new Set(pulled.map(({ id }) => id)).size, 100);
  });

  on("concurrent publishes are all kept", async ({ queue, pull }) => {
    await Promise.all(Array.from({ length: 50 }, (_, at) => queue.publish([Buffer.from(`message ${at}`)])));
    assert.equal(new Set((await pull(ALL, 50)).map(({ body }) => Buffer.from(body).toString())).size, 50);
  });

  on("thousands of messages are pulled in turns while more come", async ({ queue, pull }) => {
    const seen = new Set<string>();
    for (let turn = 0; turn < 30; turn++) {
      await publish(queue, 100);
      const messages = await pull(90, 90);
      for (const { id } of messages) seen.add(id);
      await queue.acknowledge(messages.map(({ id }) => id));
    }
    for (const { id } of await pull(ALL, 300)) seen.add(id);
    assert.equal(seen.size, 3000);
  });

  on("bytes that the caller changes after publishing or pulling change no message", async ({ queue, pull }) => {
    const body = Buffer.from("before");
    const publishing = queue.publish([body]);
    body.fill(0);
    await publishing;
    const [first] = await pull(1, 1);
    first!.body.fill(0);
    await queue.release([first!.id]);
    assert.equal(Buffer.from((await pull(1, 1))[0]!.body).toString(), "before");
  });

  on("a body that is not bytes is refused with StoreError", async ({ queue, depthIs }) => {
    await assert.rejects(queue.publish(["text" as never]), (error) => error instanceof StoreError && !error.final);
    await depthIs(0);
  });
}

function acknowledgements(on: On): void {
  on("an acknowledged message does not come again, released or not", async ({ queue, pull, pullsNone, depthIs }) => {
    await publish(queue, 3);
    const [first, second] = await pull(2, 2);
    await queue.acknowledge([first!.id]);
    await queue.release([second!.id]);
    await queue.acknowledge([second!.id]);
    await queue.release([first!.id, second!.id]);
    const rest = await pull(ALL, 1);
    assert.equal(rest.length, 1);
    assert.ok(![first!.id, second!.id].includes(rest[0]!.id));
    await depthIs(1);
    await pullsNone();
  });

  on("a message that is set aside does not come again and is not counted; the others go on", async (subject) => {
    const { queue, pull, pullsNone, depthIs } = subject;
    await publish(queue, 2);
    const [first, second] = await pull(2, 2);
    await queue.setAside([first!.id]);
    await queue.setAside([first!.id, "unknown", ""]);
    await queue.release([first!.id, second!.id]);
    assert.deepEqual(
      (await pull(ALL, 1)).map(({ id }) => id),
      [second!.id],
    );
    await depthIs(1);
    await pullsNone();
  });

  on("a released message comes again with the same id, and once", async ({ queue, pull, pullsNone }) => {
    await publish(queue, 2);
    const pulled = await pull(2, 2);
    const ids = pulled.map(({ id }) => id);
    await queue.release(ids);
    await queue.release(ids);
    const again = await pull(ALL, 2);
    assert.deepEqual(again.map(({ id }) => id).sort(), ids.sort());
    await pullsNone();
  });

  on("a message that nobody pulled cannot be doubled by a release", async ({ queue, pull, pullsNone }) => {
    await publish(queue, 2);
    const [first] = await pull(1, 1);
    await queue.release([first!.id]);
    await queue.release([first!.id, "1", "2", "3", "unknown", ""]);
    assert.equal((await pull(ALL, 2)).length, 2);
    await pullsNone();
  });

  on("unknown ids are no error", async ({ queue, depthIs }) => {
    await publish(queue, 1);
    await queue.acknowledge(["999999", "unknown", "", "-1", "1e400"]);
    await depthIs(1);
  });

  on("the depth counts held messages until they are acknowledged, each once", async ({ queue, pull, depthIs }) => {
    await publish(queue, 5);
    await depthIs(5);
    const ids = (await pull(3, 3)).map(({ id }) => id);
    await depthIs(5);
    await queue.acknowledge(ids.slice(0, 2));
    await queue.acknowledge(ids.slice(0, 2));
    await depthIs(3);
    await queue.release(ids.slice(2));
    await publish(queue, 1);
    await depthIs(4);
  });
}

function arrivals(on: On): void {
  on("whoever listens is woken after a publish and a release, until they stop", async ({ queue, pull, holds }) => {
    const woken = { first: 0, second: 0 };
    const stop = queue.onArrival(() => woken.first++);
    queue.onArrival(() => woken.second++);
    await publish(queue, 1);
    await holds(() => woken.first > 0 && woken.second > 0, "both woken by a publish");
    const before = woken.first;
    await queue.release((await pull(1, 1)).map(({ id }) => id));
    await holds(() => woken.first > before, "woken by a release");
    stop();
    stop();
    const stopped = { ...woken };
    await publish(queue, 1);
    await holds(() => woken.second > stopped.second, "the other still woken");
    assert.equal(woken.first, stopped.first);
  });

  on("a listener that pulls when it is woken finds the message", async ({ queue, holds }) => {
    let found: Promise<unknown[]> | undefined;
    queue.onArrival(() => {
      found ??= queue.pull(1);
    });
    await publish(queue, 1);
    await holds(() => found !== undefined, "woken");
    assert.equal((await found)?.length, 1);
  });
}

type Step = { kind: "publish" | "pull" | "acknowledge" | "release"; count: number };
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("publish", "pull", "acknowledge", "release"),
  count: fc.nat(5),
});

async function model({ queue, pull, depthIs }: Subject): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const waiting = new Set<string>(); // bodies, each of its own
      const held = new Map<string, string>(); // id to body
      for (const { kind, count } of steps) {
        const ids = [...held.keys()].slice(0, count);
        if (kind === "publish") {
          for (const body of await publish(queue, count)) waiting.add(body);
        } else if (kind === "pull") {
          const pulled = await pull(count, Math.min(count, waiting.size));
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
        await depthIs(waiting.size + held.size);
      }
      await queue.acknowledge([...held.keys(), ...(await pull(ALL, waiting.size)).map(({ id }) => id)]);
      await depthIs(0);
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
