import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { HarnessHealth } from "../../../beam/harness/start-harness.ts";
import { openHealthWatch, type Vitals } from "../../../pipelines/container/worker-health.ts";
import { virtualClock } from "../../lib/virtual-clock.ts";

const NOW = 1_000_000;

async function opened(context: TestContext, port: string | undefined) {
  const logged: { message: string; port?: unknown }[] = [];
  const clock = virtualClock(NOW);
  const watch = await openHealthWatch({
    port,
    clock,
    log: (_level, message, fields) => void logged.push({ message, ...fields }),
  });
  context.after(() => watch.close());
  return { ...watch, logged, ask: () => fetch(`http://127.0.0.1:${logged[0]?.port}/healthz`) };
}

const bundles = { running: 2, done: 40, failed: 1 };

/** What a worker looks at, in this state. */
function vitals(state: HarnessHealth["state"], lastInstructionAt?: number): Vitals {
  const health = () => ({ state, lastInstructionAt, bundles }) as HarnessHealth;
  return { harness: { health }, queues: { host: { depth: async () => 7 }, discover: { depth: async () => 0 } } };
}

const messagesHeld = { host: 7, discover: 0 };
const cases: [what: string, given: Vitals | undefined, status: number, body: object][] = [
  ["that starts", undefined, 503, { state: "starting", bundles: { running: 0, done: 0, failed: 0 }, messagesHeld: {} }],
  ["that was never asked", vitals("running"), 200, { state: "running", bundles, messagesHeld }],
  ["at work", vitals("running", NOW - 1_500), 200, { state: "running", bundles, lastInstructionAgeMs: 1_500, messagesHeld }],
  ["that ends", vitals("stopping", NOW), 503, { state: "stopping", bundles, lastInstructionAgeMs: 0, messagesHeld }],
  ["that has ended", vitals("ended"), 503, { state: "ended", bundles, messagesHeld }],
];
for (const [what, given, status, body] of cases)
  test(`a worker ${what} answers ${status}`, async (context) => {
    const { ask, watch } = await opened(context, "0");
    if (given !== undefined) watch(given);
    const answer = await ask();
    assert.deepEqual([answer.status, await answer.json()], [status, body]);
  });

test("without a port nobody is answered", async (context) => {
  for (const port of [undefined, ""]) assert.deepEqual((await opened(context, port)).logged, []);
});

test("a second worker with the same port says so and goes on", async (context) => {
  const first = await opened(context, "0");
  const second = await opened(context, String(first.logged[0]?.port));
  assert.match(second.logged[0]!.message, /cannot be opened, the worker goes on without/);
  second.watch(vitals("running"));
  assert.equal((await first.ask()).status, 503, "it is the first one's");
});

for (const port of ["http", "70000", "-1", "80 "])
  test(`${JSON.stringify(port)} is no port`, async (context) => {
    await assert.rejects(opened(context, port), /GLEANER_HEALTH_PORT .* is no port from 0 to 65535/);
  });
