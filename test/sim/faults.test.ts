import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import { memoryTable } from "../../io/stores/memory-table.ts";
import { virtualClock } from "../lib/virtual-clock.ts";
import { chance } from "./chance.ts";
import { faultyQueue, faultyTable, type Weather } from "./faults.ts";
import { type FaultName, strong } from "./plan.ts";

function weather(...faults: FaultName[]): Weather & { clock: ReturnType<typeof virtualClock> } {
  return { plan: strong(...faults), draw: chance(1, "weather"), clock: virtualClock(0), stormy: () => true };
}

test("faults: a port for which the plan has none is the port itself", () => {
  const table = memoryTable();
  assert.equal(faultyTable(table, weather("crash", "reports-lost")), table);
  const queue = memoryQueue();
  assert.equal(faultyQueue(queue, weather("crash", "timers-late"), false), queue);
});

test("faults: a store that refuses has done nothing, one that loses its answer has", async () => {
  for (const [fault, done] of [
    ["store-refuses", 0],
    ["store-loses-answers", 1],
  ] as const) {
    const table = memoryTable();
    const faulty = faultyTable(table, weather(fault));
    let failed: string | undefined;
    for (let at = 0; at < 1_000 && failed === undefined; at++)
      await faulty.insertIfAbsent([{ key: `k${at}`, rev: "1", value: new Uint8Array() }]).catch(() => {
        failed = `k${at}`;
      });
    assert.equal((await table.get([failed!])).filter((row) => row !== undefined).length, done, fault);
  }
});

test("faults: of a queue of hints some are lost, of one that is durable none; both may double", async () => {
  const counts = async (mayLose: boolean): Promise<number> => {
    const given = weather("reports-lost", "messages-doubled", "messages-late");
    const queue = memoryQueue();
    const faulty = faultyQueue(queue, given, mayLose);
    for (let at = 0; at < 200; at++) await faulty.publish([new Uint8Array([at])]);
    await given.clock.run(60_000);
    return new Set((await queue.pull(1_000)).map(({ body }) => body[0])).size;
  };
  assert.ok((await counts(true)) < 200);
  assert.equal(await counts(false), 200);
});
