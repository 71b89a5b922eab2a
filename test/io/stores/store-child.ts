// What does another process do to a data folder? `open`: opens it, writes a row, ends. `write`: writes until it is killed, and says what was acknowledged.
import { openTestStore } from "./opened-store.ts";

const [, , command, folder, ...flags] = process.argv;
const WRITERS = 16;
const ROWS_MAX = 100_000; // for a parent that forgets

if (command === "open") await open(folder!);
if (command === "write") await write(folder!, flags.includes("--power") ? "power" : "process");

async function open(folder: string): Promise<void> {
  try {
    const store = await openTestStore(folder);
    const row = { key: String(process.pid), rev: "1", value: new Uint8Array(1) };
    if (!flags.includes("--unused")) await store.table("urls").insertIfAbsent([row]);
    if (!flags.includes("--leave-open")) await store.close();
    console.log("opened");
  } catch (error) {
    console.log((error as Error).message);
  }
}

/** A line is said only after its write was acknowledged: `row KEY REV`, `published BODY`, `acknowledged BODY`. */
async function write(folder: string, durability: "power" | "process"): Promise<void> {
  const store = await openTestStore(folder, { durability });
  const [urls, queue] = [store.table("urls"), store.queue("host")];
  const say = (...words: string[]): void => void process.stdout.write(`${words.join(" ")}\n`);
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < ROWS_MAX) {
      const name = `${process.pid}-${next++}`;
      await urls.insertIfAbsent([{ key: name, rev: "1", value: Buffer.alloc(100) }]);
      say("row", name, "1");
      if (await urls.compareAndSet({ key: name, rev: "2", value: Buffer.alloc(200) }, "1")) say("row", name, "2");
      await queue.publish([Buffer.from(name)]);
      say("published", name);
      const [message] = await queue.pull(1);
      if (message === undefined || next % 2 === 0) continue;
      await queue.acknowledge([message.id]);
      say("acknowledged", Buffer.from(message.body).toString());
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}
