// Do events of each kind come to where analysts look for them, on files and in memory?
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileEvents } from "../../../io/objects/events-files.ts";
import { memoryEvents } from "../../../io/objects/memory.ts";
import type { Events } from "../../../ports/events.ts";
import type { IndexEvent, SkipEvent } from "../../../schemas/events.ts";
import { givenClock, givenRandom } from "./given.ts";
import { powerCutFiles } from "./power-cut-files.ts";
import { wholeLinesOf } from "./whole-files.ts";

const skip: SkipEvent = { at: 1, hostKey: "http://a", reason: "depth", count: 3, samples: ["http://a/\u2028\n"] };
const index: IndexEvent = { at: 2, urlId: "u", docVersion: 1, op: "delete", url: "http://a/" };

const given = (files = powerCutFiles()) =>
  fileEvents({ folder: "/data/events", files, clock: givenClock(), random: givenRandom(1), durability: "power" });

test("events lie by kind and day, one JSON object a line", async () => {
  const files = powerCutFiles();
  const events = await given(files);
  await Promise.all([events.publish("skip", [skip, skip]), events.publish("index", [index]), events.publish("fetch", [])]);
  await events.close();
  assert.deepEqual(
    files.paths().map((path) => path.replace(/part-.*\./, "part.")),
    ["/data/events/skip/dt=2024-02-29/part.ndjson", "/data/events/index/dt=2024-02-29/part.ndjson"],
  );
  assert.deepEqual(
    (await wholeLinesOf(files)).map((line) => JSON.parse(line)),
    [skip, skip, index],
  );
});

const stores: [name: string, make: () => Events | Promise<Events>][] = [
  ["files", given],
  ["memory", memoryEvents],
];
for (const [name, make] of stores)
  test(`${name}: an event that is not of its kind's shape is our own mistake and asserts`, async () => {
    const events = await make();
    await assert.rejects(events.publish("index", [{ ...index, op: "replace" as "upsert" }]), /index event.*op/);
    await events.close();
  });
