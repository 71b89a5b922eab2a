// Do the stores of the simulator keep what they are given, within their bound, and finish with microtasks alone?
import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryArchive, memoryEvents, memoryLines } from "../../../io/objects/memory.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { page } from "./given.ts";

test("records are read back; beyond the bound the oldest are gone", async () => {
  const archive = memoryArchive({ keep: 3 });
  const [first, second] = [page("a"), page("b")];
  const places = [...(await archive.append(first)), ...(await archive.append(second))];
  assert.equal(new Set(places.map(({ offset }) => offset)).size, 4);
  await assert.rejects(archive.read(places[0]!), StoreError);
  assert.deepEqual(await archive.read(places[3]!), Buffer.concat(second[1]!.bytes));
  assert.deepEqual(
    archive.records().map(({ index }) => index?.url),
    ["http://example.com/a", undefined, "http://example.com/b"],
  );
  await archive.close();
});

test("lines and events are kept in order, the newest of them", async () => {
  const lines = memoryLines({ keep: 10 });
  for (let index = 0; index < 25; index++) await lines.append([String(index)]);
  assert.deepEqual(lines.lines.slice(-10), ["15", "16", "17", "18", "19", "20", "21", "22", "23", "24"]);
  assert.ok(lines.lines.length <= 11);
  const events = memoryEvents();
  const skip = { at: 1, hostKey: "http://a", reason: "depth", count: 1, samples: [] };
  await events.publish("skip", [skip]);
  assert.deepEqual(events.of("skip"), [skip]);
  assert.deepEqual(events.of("fetch"), []);
});

test("everything completes with microtasks alone", async () => {
  let done = false;
  const work = async () => {
    const archive = memoryArchive();
    const [place] = await archive.append(page("a"));
    await archive.read(place!);
    await memoryLines().append(["{}"]);
    await memoryEvents().publish("skip", []);
    done = true;
  };
  void work();
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  assert.ok(done);
});
