import assert from "node:assert/strict";
import { test } from "node:test";
import { eventFolders } from "../../../../io/objects/gcs/event-folders.ts";
import { TEXT_TYPE } from "../../../../io/objects/gcs/named-object.ts";
import { readEvents } from "../../../../io/objects/read-events.ts";
import { virtualClock } from "../../../lib/virtual-clock.ts";
import { memoryBucket } from "./memory-bucket.ts";

const NOW = Date.parse("2026-12-01T00:10:00Z");
const skip = (at: number) => JSON.stringify({ at, hostKey: "http://a.test", reason: "depth", count: 1, samples: [] });

async function found(files: Record<string, string>) {
  const bucket = memoryBucket(NOW);
  for (const [name, text] of Object.entries(files))
    await bucket.create({ name: `events/skip/${name}`, bytes: Buffer.from(text), contentType: TEXT_TYPE });
  const clock = virtualClock(NOW);
  const wanted = { kind: "skip", holding: "a.test", wanted: () => true, max: 10 } as const;
  const { events } = await readEvents({ ...wanted, folder: "events", files: eventFolders("events", bucket, clock) });
  return events.map(({ at }) => at);
}

test("the last days' events come newest first, the last of each file among them, with and without an end behind it", async () => {
  const files = {
    "dt=2026-11-30/23_50_00Z_a.ndjson": `${skip(1)}\n${skip(2)}`,
    "dt=2026-11-30/23_55_00Z_b.ndjson": `${skip(3)}\n`,
    "dt=2026-12-01/00_05_00Z_c.ndjson": skip(4),
    "dt=2026-11-01/00_05_00Z_d.ndjson": skip(0), // too long ago
  };
  assert.deepEqual(await found(files), [4, 3, 2, 1]);
  assert.deepEqual(await found({}), []);
});
