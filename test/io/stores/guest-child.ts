// What does one of two processes do that share a data folder? Counts up by compare-and-set as many workers do, and says how often it won.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../../../ports/versioned-table.ts";
import { openTestStore } from "./opened-store.ts";

const [, , role, folder, counts] = process.argv;
const COUNTERS = 20;
const PER_WRITER = Number(counts);
const TRIES_MAX = 500_000; // of all together, for a folder that takes none
const WRITERS = 16;
const REFUSED_MS = 20;

const store = await openTestStore(folder!, {
  durability: "power",
  guest: role === "guest",
  queues: role === "guest" ? [] : ["host"],
});
const table = store.table("urls");
const won: Record<string, number> = {};
const told = { lost: 0, refused: 0, published: 0, slowestMs: 0 };
let tries = 0;

console.log("opened");
await once(process.stdin, "data"); // both begin together
process.stdin.destroy();
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => count(writer)));
await store.close();
console.log(JSON.stringify({ won, ...told }));

async function count(writer: number): Promise<void> {
  for (let done = 0; done < PER_WRITER && tries < TRIES_MAX; tries++) {
    const began = performance.now();
    try {
      if (await countedUp(`count-${(writer + done) % COUNTERS}`)) done++;
      else told.lost++;
      if (role === "owner" && done % 4 === 0) await passMessage(`${writer}-${tries}`);
    } catch (error) {
      if (!(error instanceof StoreError) || error.final) throw error;
      told.refused++;
      await sleep(REFUSED_MS);
    }
    told.slowestMs = Math.max(told.slowestMs, Math.round(performance.now() - began));
  }
}

async function countedUp(key: string): Promise<boolean> {
  const [row] = await table.get([key]);
  const value = Buffer.alloc(4);
  value.writeUInt32LE(row === undefined ? 1 : Buffer.from(row.value).readUInt32LE() + 1);
  const written =
    row === undefined
      ? (await table.insertIfAbsent([{ key, rev: "1", value }]))[0]
      : await table.compareAndSet({ key, rev: String(Number(row.rev) + 1), value }, row.rev);
  if (written) won[key] = (won[key] ?? 0) + 1;
  return written === true;
}

/** As a crawl does between its records; the guest leaves its queues alone. */
async function passMessage(body: string): Promise<void> {
  const queue = store.queue("host");
  await queue.publish([Buffer.from(body)]);
  told.published++;
  const [message] = await queue.pull(1);
  if (message !== undefined) await queue.acknowledge([message.id]);
}
