import assert from "node:assert/strict";
import { test } from "node:test";
import type { RobotsState } from "../../../schemas/robots-state.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import { writeState } from "../../../transforms/fetch/robots-record.ts";
import { hostRecord, START, world } from "../world.ts";
import { HOST_KEY } from "./leases.ts";

const where = { paceKey: "a.test", hostKey: HOST_KEY };
const rules = (fetchedAt: number, crawlDelayMs?: number): RobotsState => ({
  status: "rules",
  fetchedAt,
  expiresAt: START + 1_000,
  body: new Uint8Array(),
  ...(crawlDelayMs === undefined ? {} : { crawlDelayMs }),
});

test("the newest answer stands, and the host waits as the standing ones ask", async () => {
  const given = world();
  const write = (state: RobotsState, hostKey = HOST_KEY) =>
    writeState(given.services, given.config, { ...where, hostKey }, state);
  const delay = async () => (await hostRecord(given, "a.test"))?.crawlDelayMs;
  await write(rules(START, 5_000));
  assert.equal(await delay(), 5_000);
  assert.deepEqual(await write(rules(START - 9, 70_000)), rules(START, 5_000), "an older answer changes nothing");
  assert.equal(await delay(), 5_000);
  await write(rules(START, 8_000), "https://a.test");
  assert.equal(await delay(), 8_000);
  await write(rules(START + 1), "https://a.test");
  assert.equal(await delay(), 5_000);
  await write(rules(START + 1));
  assert.equal(await delay(), undefined);
});

test("rules that ask for no delay leave a host without a record without one", async () => {
  const given = world();
  await writeState(given.services, given.config, where, rules(START));
  assert.equal(await hostRecord(given, "a.test"), undefined);
  const [row] = await given.services.tables.robots.get([rowKey("a.test", HOST_KEY)]);
  assert.deepEqual(row?.value, rules(START));
});
