import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Delivery, LEASE_MS_MAX, type Leases, leases } from "../../../io/queues/pubsub-leases.ts";

const delivery = (messageId: string, ackId = `ack-${messageId}`, publishedAt = "1.000000000"): Delivery => ({
  ...{ messageId, ackId, publishedAt, attempts: 1 },
  body: Buffer.from(messageId),
});
const idsOf = (held: Leases, max = 10): string[] => held.take(max).map(({ id }) => id);

test("a message that comes twice is given once, and acknowledged by the newer ackId", () => {
  const held = leases();
  assert.equal(held.add(delivery("1", "old"), 0), "new");
  assert.equal(held.add(delivery("1", "new"), 0), "held");
  const ids = idsOf(held);
  assert.equal(ids.length, 1);
  assert.equal(held.add(delivery("1", "newest"), 0), "held");
  assert.deepEqual(idsOf(held), []);
  assert.deepEqual(held.acknowledge(ids), ["newest"]);
});

test("a message that comes again after its acknowledgement is done, whether the call for it was answered or not", () => {
  const held = leases();
  held.add(delivery("1"), 0);
  const ids = idsOf(held);
  assert.deepEqual(held.acknowledge(ids), ["ack-1"]);
  assert.deepEqual(held.acknowledge(ids), ["ack-1"], "no answer has come yet: it is sent again");
  assert.equal(held.add(delivery("1", "later"), 0), "done");
  held.acknowledged(ids);
  assert.deepEqual(held.acknowledge(ids), []);
  assert.equal(held.add(delivery("1", "later"), 0), "done");
  assert.equal(held.known(0), 0);
});

test("a released message that is acknowledged before it comes again is done", () => {
  const held = leases();
  held.add(delivery("1"), 0);
  const ids = idsOf(held);
  assert.deepEqual(held.release(ids), ["ack-1"]);
  assert.deepEqual(held.acknowledge(ids), []);
  assert.equal(held.add(delivery("1", "again"), 0), "done");
});

test("the same message id of another time is another message: an emulator counts from the start again", () => {
  const held = leases();
  held.add(delivery("1"), 0);
  held.acknowledge(idsOf(held));
  assert.equal(held.add(delivery("1", "other", "2.000000000"), 0), "new");
  assert.deepEqual(idsOf(held), ["1@2.000000000"]);
});

test("a lease ends after its longest time: it is moved on no more, and its message may come anew", () => {
  const held = leases();
  held.add(delivery("1"), 0);
  held.take(1);
  assert.deepEqual(held.lasting(LEASE_MS_MAX - 1), ["ack-1"]);
  assert.deepEqual(held.lasting(LEASE_MS_MAX), []);
  assert.equal(held.size, 0);
  assert.equal(held.bytes, 0);
  assert.equal(held.add(delivery("1", "later"), LEASE_MS_MAX), "new");
});

test("a published message is known until acknowledged, or until it has not come for as long as a lease may last", () => {
  const held = leases();
  held.published(["1", "2", "3"], 0);
  assert.equal(held.known(0), 3);
  held.add(delivery("1"), 5);
  const ids = idsOf(held);
  assert.equal(held.known(5), 3);
  held.acknowledge(ids);
  held.acknowledged(ids);
  assert.equal(held.known(5), 2);
  held.add(delivery("2"), 5);
  assert.equal(held.known(LEASE_MS_MAX), 1, "2 came at 5, 3 never");
});

test("an answer to a publish that comes after the message was pulled and acknowledged makes nothing known", () => {
  const held = leases();
  held.add(delivery("1"), 0);
  const ids = idsOf(held);
  held.acknowledge(ids);
  held.acknowledged(ids);
  held.published(["1"], 0);
  assert.equal(held.known(0), 0);
});

test("clear tells the ackIds of all, given or not, and forgets them", () => {
  const held = leases();
  for (const id of ["1", "2"]) held.add(delivery(id), 0);
  held.take(1);
  assert.deepEqual(held.clear(), ["ack-1", "ack-2"]);
  assert.deepEqual([held.size, held.waiting, held.bytes], [0, 0, 0]);
  assert.deepEqual(held.take(9), []);
});

test("whatever is asked, sizes are those of what is held, and no message is given to two", () => {
  const id = fc.integer({ min: 0, max: 5 }).map(String);
  const step = fc.record({ kind: fc.constantFrom("add", "take", "acknowledge", "release", "lasting"), id });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const held = leases();
      const given = new Set<string>();
      for (const each of steps) {
        const key = `${each.id}@1.000000000`;
        if (each.kind === "add") held.add(delivery(each.id), 0);
        if (each.kind === "take") for (const one of idsOf(held, 2)) assert.ok(!given.has(one) && given.add(one));
        if (each.kind === "acknowledge") held.acknowledge([key]);
        if (each.kind === "release") held.release([key]);
        if (each.kind === "acknowledge" || each.kind === "release") given.delete(key);
        if (each.kind === "lasting") assert.equal(held.lasting(0).length, held.size);
        assert.equal(held.bytes, held.size); // each body has one byte
        assert.ok(held.waiting <= held.size);
      }
    }),
  );
});
