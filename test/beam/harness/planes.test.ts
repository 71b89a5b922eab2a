import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { suite, test } from "node:test";
import { counters } from "../../../beam/harness/counters.ts";
import { Finalizers } from "../../../beam/harness/finalizers.ts";
import { startCall } from "../../../beam/harness/grpc-call.ts";
import { Inboxes } from "../../../beam/harness/inboxes.ts";
import { openLogPlane, teed } from "../../../beam/harness/log-plane.ts";
import { startHarness } from "../../../beam/harness/start-harness.ts";
import { StateCache } from "../../../beam/harness/state-cache.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { sleep } from "../../../ports/clock.ts";
import { logLevels } from "../../../ports/log.ts";
import { bytes, struct } from "../../../schemas/codec.ts";
import { batches, each, word } from "../lib.ts";
import { startFakeRunner } from "./fake-runner.ts";
import { clock, readWords, silent, stageOf, startAtFake, wordBytes } from "./lib.ts";

const source = batches("source", word, []);
const same = each("same", { in: word, out: word }, (one, emit) => emit(one));
const MEGABYTE = 1024 * 1024;

/** Waits until it holds, two seconds at most. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !holds(); tries++) await sleep(clock, 10);
  assert.ok(holds());
}

/** What it is when it has not changed for a while. */
async function settled(number: () => number): Promise<number> {
  for (let [before, quiet] = [number(), 0]; quiet < 3; ) {
    await sleep(clock, 50);
    quiet = number() === before ? quiet + 1 : 0;
    before = number();
  }
  return number();
}

async function startOnly(
  t: Parameters<typeof startAtFake>[0],
  definition: ReturnType<typeof each<{ word: string }>>,
  options: Parameters<typeof startAtFake>[2] = {},
) {
  const started = await startAtFake(t, [definition], options);
  const { runner } = started;
  runner.register(
    stageOf((p) => void p.each("Only", definition, {}, p.source("Source", source, {}).out), {
      only: ["Only"],
      endpoint: runner.endpoint,
    }),
  );
  return started;
}

suite("back-pressure", () => {
  test("what no bundle takes is read no further than a bound, and all of it comes once one does", async (t) => {
    const { runner, harness } = await startOnly(t, same);
    // Opens the plane.
    await runner.bundle({ descriptor: "stage", data: { in: [wordBytes("x")] } });
    const frame = wordBytes("y".repeat(MEGABYTE));
    const FRAMES = 60;
    for (let count = 0; count < FRAMES; count++)
      await runner.write({ data: [{ instructionId: "later", transformId: "in", data: frame, isLast: false }], timers: [] });
    await until(() => harness.health().kept.inboundBytes > 30 * MEGABYTE);
    const inboundBytes = await settled(() => harness.health().kept.inboundBytes);
    assert.ok(inboundBytes < 50 * MEGABYTE, `${inboundBytes} bytes`);
    const later = runner.bundle({ descriptor: "stage" }, "later");
    await runner.write({
      data: [{ instructionId: "later", transformId: "in", data: new Uint8Array(), isLast: true }],
      timers: [],
    });
    assert.equal(readWords((await later).data["out:Only.out"]).length, FRAMES);
    assert.equal(harness.health().kept.inboundBytes, 0);
  });

  test("a bundle that gives more than the runner takes waits for it", async (t) => {
    const blob = struct({ blob: bytes });
    const megabyte = { blob: Buffer.alloc(MEGABYTE) };
    let given = 0;
    const floods = each("floods", { in: word, out: blob }, (_one, emit) => {
      given++;
      emit(megabyte);
    });
    const { runner } = await startAtFake(t, [floods]);
    runner.register(
      stageOf((p) => void p.each("Only", floods, {}, p.source("Source", source, {}).out), {
        only: ["Only"],
        endpoint: runner.endpoint,
      }),
    );
    await runner.bundle({ descriptor: "stage", data: { in: [] } }); // opens the plane
    await runner.hold(true);
    const ELEMENTS = 100;
    const flood = runner.bundle({
      descriptor: "stage",
      embedded: true,
      data: { in: [wordBytes(...Array.from({ length: ELEMENTS }, String))] },
    });
    await until(() => given > 0);
    await sleep(clock, 300);
    const before = given;
    assert.ok(before < ELEMENTS / 2, `${before} given while nothing is taken`);
    await runner.hold(false);
    assert.equal((await flood).error, "");
    assert.equal(given, ELEMENTS);
  });
});

suite("the end of a worker", () => {
  test("by the runner tears the DoFns down", async (t) => {
    const lives: string[] = [];
    const living = each(
      "living",
      { in: word, out: word },
      (one, emit) => emit(one),
      () => ({ setup: () => void lives.push("up"), teardown: () => void lives.push("down") }),
    );
    const { runner, harness } = await startOnly(t, living);
    await runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a")] } });
    assert.equal(harness.health().state, "running");
    await runner.endControl();
    await harness.ended;
    assert.deepEqual(lives, ["up", "down"]);
    const { state, error } = harness.health();
    assert.deepEqual([state, error], ["ended", undefined]);
    assert.equal(harness.health().kept.instances, 0);
  });

  test("by stop lets the bundles in progress end, and begins no other", async (t) => {
    const slow = each("slow", { in: word, out: word }, async (one, emit) => {
      await sleep(clock, 100);
      emit(one);
    });
    const { runner, harness } = await startOnly(t, slow);
    const running = runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a")] } });
    await until(() => harness.health().bundles.running === 1);
    const stopping = harness.stop();
    assert.equal(harness.health().state, "stopping");
    assert.match((await runner.bundle({ descriptor: "stage" })).error, /the worker stops/);
    const { error, data } = await running;
    assert.equal(error, "");
    assert.deepEqual(readWords(data["out:Only.out"]), ["a"]);
    await stopping;
    assert.equal(harness.health().state, "ended");
    await harness.stop();
  });

  test("that breaks its calls fails the bundles in progress", async (t) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let down = false;
    const teardown = async () => {
      await sleep(clock, 30);
      down = true;
    };
    const held = each(
      "held",
      { in: word, out: word },
      () => promise,
      () => ({ teardown }),
    );
    const { runner, harness } = await startOnly(t, held);
    void runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a")] } });
    await until(() => harness.health().bundles.running === 1);
    setTimeout(resolve, 50);
    runner.stop();
    await harness.ended;
    assert.deepEqual(harness.health().bundles, { running: 0, done: 0, failed: 1 });
    assert.notEqual(harness.health().error, undefined);
    assert.ok(down, "before the worker counts as ended");
  });

  test("comes at once where nobody listens, and in time where nobody answers", async (t) => {
    const sockets: Socket[] = [];
    const deaf: Server = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
    const { port } = deaf.address() as { port: number };
    const start = (controlEndpoint: string) =>
      startHarness({
        id: "w",
        controlEndpoint,
        registry: dofnRegistry([]),
        services: undefined as never,
        clock,
        metrics: silent,
        log: () => undefined,
      });
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      deaf.close();
    });
    const alone = start("127.0.0.1:1");
    await alone.ended;
    assert.match(alone.health().error ?? "", /ECONNREFUSED/);
    const unanswered = start(`127.0.0.1:${port}`);
    await sleep(clock, 50);
    await unanswered.stop();
    assert.equal(unanswered.health().state, "ended");
  });

  test("a data plane that the runner ends fails what uses it, and is opened anew by the next bundle", async (t) => {
    const { runner, harness } = await startOnly(t, same);
    const waiting = runner.bundle({ descriptor: "stage" });
    await until(() => harness.health().bundles.running === 1);
    (await runner.dataCall()).end();
    assert.match((await waiting).error, /plane to .* was lost/);
    const again = await runner.bundle({ descriptor: "stage", embedded: true, data: { in: [wordBytes("a")] } });
    assert.deepEqual(readWords(again.data["out:Only.out"]), ["a"]);
  });
});

suite("the runner's log", () => {
  test("gets our lines with their fields, and the harness's own", async (t) => {
    const fragile = each("fragile", { in: word, out: word }, () => {
      throw new Error("no luck");
    });
    const runner = await startFakeRunner();
    const plane = openLogPlane({ endpoint: runner.endpoint, workerId: "w", clock });
    plane.log("info", "a page", { status: 200 });
    plane.log("error", "a fault", { error: new Error("deep"), circle: 1n as never });
    await until(() => runner.logged.length === 2);
    assert.equal(runner.logged[0], 'a page {"status":200}');
    assert.match(runner.logged[1]!, /^a fault/);
    await plane.close();
    runner.stop();
    const own = await startFakeRunner();
    const started = await startOnly(t, fragile, { loggingEndpoint: own.endpoint });
    await started.runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a")] } });
    await until(() => own.logged.length === 1);
    assert.match(own.logged[0]!, /a bundle failed/);
    own.stop();
  });

  test("never holds up whoever logs: what does not fit is dropped and counted", async () => {
    const plane = openLogPlane({ endpoint: "127.0.0.1:1", workerId: "w", clock });
    for (let line = 0; line < 5000; line++) plane.log("info", "x".repeat(100_000));
    await sleep(clock, 50);
    for (let line = 0; line < 5000; line++) plane.log("info", "y");
    assert.ok(plane.dropped >= 4000);
    assert.ok(plane.waiting <= 1000);
    await plane.close();
  });

  test("is told errors and warnings by whoever logs to both, other lines up to the level", async (t) => {
    const runner = await startFakeRunner();
    t.after(() => runner.stop());
    for (const [least, told] of [
      ["error", ["error", "warn"]],
      ["info", ["error", "warn", "info"]],
      ["debug", ["error", "warn", "info", "debug"]],
    ] as const) {
      const plane = openLogPlane({ endpoint: runner.endpoint, workerId: "w", clock });
      const own: string[] = [];
      const log = teed((level) => own.push(level), plane, least);
      for (const level of logLevels) log(level, level, { least });
      await until(() => runner.logged.length >= told.length);
      await plane.close();
      assert.deepEqual(own, logLevels);
      assert.deepEqual(
        runner.logged.splice(0),
        told.map((level) => `${level} {"least":"${least}"}`),
      );
    }
  });

  test("keeps room for what went wrong, and cuts a long line off", async (t) => {
    const plane = openLogPlane({ endpoint: "127.0.0.1:1", workerId: "w", clock });
    t.after(plane.close);
    await until(() => {
      plane.log("info", "whether the runner is known to be away");
      return plane.waiting > 0;
    });
    const before = plane.waiting;
    for (let line = 0; line < 2000; line++) plane.log("info", "x");
    assert.deepEqual([plane.waiting, plane.dropped], [500, 1500 + before]);
    for (let line = 0; line < 2000; line++) plane.log("error", "y");
    assert.deepEqual([plane.waiting, plane.dropped], [1000, 3000 + before]);
    const runner = await startFakeRunner();
    t.after(() => runner.stop());
    const heard = openLogPlane({ endpoint: runner.endpoint, workerId: "w", clock });
    heard.log("info", "z".repeat(100_000));
    await until(() => runner.logged.length === 1);
    await heard.close();
    assert.equal(runner.logged[0]!.length, 8192);
  });
});

test("a call that the runner refuses ends with gRPC's status and words", async (t) => {
  const runner = await startFakeRunner();
  t.after(() => runner.stop());
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  startCall({ endpoint: runner.endpoint, path: "/no.Such/Call", metadata: {}, onMessage: () => undefined, onEnd: resolve });
  assert.match((await promise)!.message, /gRPC status 12/);
});

suite("what is kept", () => {
  const frame = (instruction: string) => ({
    instruction,
    transform: "in",
    family: undefined,
    bytes: Buffer.of(1),
    last: false,
  });

  test("of frames: none for instructions that have ended, a bounded number for those that never come", () => {
    const inboxes = new Inboxes();
    let taken = 0;
    const put = (id: string) => inboxes.put(frame(id), () => taken++);
    const inbox = inboxes.claim("a");
    put("a");
    inbox.close();
    put("a");
    assert.deepEqual([taken, inboxes.size], [2, 0]);
    for (let count = 0; count < 5000; count++) put(`orphan-${count}`);
    assert.equal(inboxes.size, 1024);
    assert.equal(taken, 2 + 5000 - 1024);
    inboxes.claim("orphan-0").close();
    put("fresh");
    assert.equal(inboxes.size, 1024);
  });

  test("of bundles to finalize: a bounded number, the oldest forgotten and told of", async () => {
    let told = 0;
    const finalizers = new Finalizers(() => told++, silent);
    const called: string[] = [];
    for (let count = 0; count < 10_005; count++) finalizers.keep(`b${count}`, [() => void called.push(`b${count}`)]);
    assert.deepEqual([finalizers.size, told], [10_000, 5]);
    await finalizers.finalize("b0");
    await finalizers.finalize("b5");
    assert.deepEqual(called, ["b5"]);
  });

  test("of state: what was used last, each entry a copy of its own", () => {
    const cache = new StateCache(3 * 170);
    const given = Buffer.of(1, 2, 3);
    for (const key of ["a", "b", "c"]) cache.set(key, given);
    given[0] = 9;
    assert.deepEqual(cache.get("a")!.bytes, Uint8Array.of(1, 2, 3));
    cache.set("d", undefined);
    assert.deepEqual(
      ["a", "b", "c", "d"].map((key) => cache.get(key) !== undefined),
      [true, false, true, true],
    );
    for (const key of ["a", "c", "d"]) cache.delete(key);
    assert.deepEqual([cache.size, cache.bytes], [0, 0]);
  });

  test("of counters: what was counted since the last answer, by name and labels", async (t) => {
    const counted = counters(silent);
    counted.metrics.count("pages_total", 2, { outcome: "ok" });
    counted.metrics.count("pages_total", 1, { outcome: "ok" });
    counted.metrics.count("pages_total");
    const { runner } = await startOnly(t, same, { counters: counted });
    const user = async () => {
      const { response } = await runner.bundle({ descriptor: "stage", data: { in: [] } });
      const mine = response.monitoringInfos.filter(({ urn }) => urn === "beam:metric:user:sum_int64:v1");
      return mine.map(({ labels, payload }) => [labels.NAME, labels.NAMESPACE, payload[0]]);
    };
    assert.deepEqual(await user(), [
      ["pages_total{outcome=ok}", "gleaner", 3],
      ["pages_total", "gleaner", 1],
    ]);
    assert.deepEqual(await user(), []);
    for (let count = 0; count < 5000; count++) counted.metrics.count(`name_${count}`);
    assert.equal(counted.take().size, 1000);
  });
});
