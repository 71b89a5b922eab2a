import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { sleep } from "../../../ports/clock.ts";
import { bytes, struct } from "../../../schemas/codec.ts";
import { batches, each, sink, type Word, word } from "../lib.ts";
import { AT, clock, keyedBytes, readPlain, readWords, stageOf, startAtFake, wordBytes } from "./lib.ts";

const source = batches("source", word, []);
const same = each("same", { in: word, out: word }, (one, emit) => emit(one));

/** One stage of one DoFn, labelled Only. */
async function startOnly(
  t: Parameters<typeof startAtFake>[0],
  definition: ReturnType<typeof each<Word>>,
  options: Parameters<typeof startAtFake>[2] = {},
) {
  const started = await startAtFake(t, [definition], options);
  const build = (p: Parameters<Parameters<typeof stageOf>[0]>[0]) =>
    void p.each("Only", definition, {}, p.source("Source", source, {}).out);
  started.runner.register(stageOf(build, { only: ["Only"], endpoint: started.runner.endpoint }));
  return started;
}

suite("a bundle", () => {
  test("takes an element through fused DoFns, with its time and in order", async (t) => {
    const upper = each("upper", { in: word, out: word }, ({ word: one }, emit) => emit({ word: one.toUpperCase() }));
    const twice = each("twice", { in: word, out: word }, (one, emit) => {
      emit(one);
      emit(one);
    });
    const { runner } = await startAtFake(t, [upper, twice]);
    runner.register(
      stageOf((p) => void p.each("Twice", twice, {}, p.each("Upper", upper, {}, p.source("Source", source, {}).out).out), {
        only: ["Upper", "Twice"],
        endpoint: runner.endpoint,
      }),
    );
    const { error, data, response } = await runner.bundle({
      descriptor: "stage",
      data: { in: [wordBytes("a", "b"), wordBytes("c")] },
    });
    assert.equal(error, "");
    assert.deepEqual(readWords(data["out:Twice.out"]), ["A", "A", "B", "B", "C", "C"]);
    assert.ok(readPlain(data["out:Twice.out"]).every(({ at }) => at === AT));
    assert.deepEqual([...runner.workerIds], ["worker-1"]);
    assert.equal(response.requiresFinalization, false);
    assert.deepEqual(response.residualRoots, []);
  });

  test("gives each tagged output to those that take it, and counts the elements of each collection", async (t) => {
    const outputs = { short: word, long: word };
    const sorted: DoFnDefinition<Word, typeof outputs, object, unknown> = {
      ...{ form: "each", name: "sorted", input: word, outputs },
      make: () => ({ process: (one, context) => context.emit(one.word.length > 2 ? "long" : "short", one) }),
    };
    const kept: string[] = [];
    const keep = sink("keep", word, ({ word: one }) => kept.push(one));
    const { runner } = await startAtFake(t, [sorted, keep, same]);
    runner.register(
      stageOf(
        (p) => {
          const { short, long } = p.each("Sorted", sorted, {}, p.source("Source", source, {}).out);
          p.each("Keep", keep, {}, short);
          p.each("Same", same, {}, p.flatten("Both", short, long));
        },
        { only: ["Sorted", "Keep", "Both", "Same"], endpoint: runner.endpoint },
      ),
    );
    const { data, response } = await runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a", "abc", "b")] } });
    assert.deepEqual(kept, ["a", "b"]);
    assert.deepEqual(readWords(data["out:Same.out"]), ["a", "abc", "b"]);
    const counts = response.monitoringInfos.map(({ payload }) => payload[0]).sort();
    assert.deepEqual(counts, [1, 2, 3, 3, 3]); // long, short, and all: from the source, of the flatten, of Same
    assert.equal(Object.keys(response.monitoringData).length, 5);
  });

  test("pairs and unpairs what a runner reshuffles by itself", async (t) => {
    const { runner } = await startAtFake(t, [same]);
    const build = (p: Parameters<Parameters<typeof stageOf>[0]>[0]) =>
      void p.reshuffle("Spread", p.each("Same", same, {}, p.source("Source", source, {}).out).out);
    runner.register(stageOf(build, { only: ["Spread/Pair"], endpoint: runner.endpoint, id: "pair" }));
    runner.register(stageOf(build, { only: ["Spread/Unpair"], endpoint: runner.endpoint, id: "unpair" }));
    const paired = await runner.bundle({ descriptor: "pair", data: { in: [wordBytes("a", "b", "c")] } });
    assert.equal(paired.error, "");
    const bytesOfPairs = Object.values(paired.data)[0]!;
    const keys = new Set<string>();
    const grouped: Buffer[] = [];
    for (let at = 0; at < bytesOfPairs.length; ) {
      // header 13, key: length 2 and two bytes, value: its length and itself
      const size = bytesOfPairs[at + 16]!;
      const value = bytesOfPairs.subarray(at + 16, at + 17 + size);
      keys.add(bytesOfPairs.subarray(at + 14, at + 16).toString("hex"));
      grouped.push(Buffer.concat([bytesOfPairs.subarray(at, at + 16), Buffer.of(0, 0, 0, 2), value, value]));
      at += 17 + size;
    }
    assert.equal(keys.size, 3);
    const back = await runner.bundle({ descriptor: "unpair", data: { in: [Buffer.concat(grouped)] } });
    assert.equal(back.error, "");
    assert.deepEqual(readWords(Object.values(back.data)[0]), ["a", "a", "b", "b", "c", "c"]);
  });

  test("may come inside its request, or before it, or after it", async (t) => {
    const { runner } = await startOnly(t, same);
    const inside = await runner.bundle({ descriptor: "stage", embedded: true, data: { in: [wordBytes("a")] } });
    assert.deepEqual(readWords(inside.data["out:Only.out"]), ["a"]);
    const frame = { instructionId: "early", transformId: "in", isLast: false };
    await runner.write({ data: [{ ...frame, data: wordBytes("b") }], timers: [] });
    await sleep(clock, 20);
    const early = runner.bundle({ descriptor: "stage" }, "early");
    await sleep(clock, 20);
    await runner.write({ data: [{ ...frame, data: wordBytes("c"), isLast: true }], timers: [] });
    assert.deepEqual(readWords((await early).data["out:Only.out"]), ["b", "c"]);
  });

  test("of slow elements has them in progress side by side, a named number at most", async (t) => {
    let running = 0;
    let most = 0;
    const slow = each("slow", { in: word, out: word }, async (one, emit) => {
      most = Math.max(most, ++running);
      await sleep(clock, 5);
      running--;
      emit(one);
    });
    const { runner } = await startOnly(t, slow);
    const words = Array.from({ length: 3000 }, (_, index) => String(index));
    const { data } = await runner.bundle({ descriptor: "stage", data: { in: [wordBytes(...words)] } });
    assert.equal(readWords(data["out:Only.out"]).length, 3000);
    assert.equal(most, 1024);
  });

  test("with as many elements in progress as may be takes no further frame", async (t) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = each("held", { in: word, out: word }, () => promise);
    const { runner, harness } = await startOnly(t, held);
    const full = Array.from({ length: 1025 }, () => "x");
    const running = runner.bundle({
      descriptor: "stage",
      data: { in: [wordBytes(...full), wordBytes("y".repeat(100_000)), wordBytes("z")] },
    });
    for (let tries = 0; tries < 200 && harness.health().kept.inboundBytes < 100_000; tries++) await sleep(clock, 10);
    await sleep(clock, 50);
    assert.ok(harness.health().kept.inboundBytes > 100_000);
    resolve();
    assert.equal((await running).error, "");
    assert.equal(harness.health().kept.inboundBytes, 0);
  });

  test("of ten megabytes in one element, cut into frames anywhere, comes whole and leaves in frames of a megabyte", async (t) => {
    const blob = struct({ blob: bytes });
    const blobs = batches("blobs", blob, []);
    const parts = each("parts", { in: blob, out: blob }, ({ blob: whole }, emit) => {
      emit({ blob: whole });
      for (let at = 0; at < whole.length; at += 300_000) emit({ blob: whole.subarray(at, at + 300_000) });
    });
    const { runner } = await startAtFake(t, [parts]);
    runner.register(
      stageOf((p) => void p.each("Parts", parts, {}, p.source("Source", blobs, {}).out), {
        only: ["Parts"],
        endpoint: runner.endpoint,
      }),
    );
    const whole = Buffer.alloc(10 * 1024 * 1024, "0123456789");
    const header = wordBytes("").subarray(0, 13);
    const inner = Buffer.concat([Buffer.of(1), varint(whole.length), whole]);
    const element = Buffer.concat([header, varint(inner.length), inner]);
    const frames = Array.from({ length: Math.ceil(element.length / 70_001) }, (_, index) =>
      element.subarray(index * 70_001, (index + 1) * 70_001),
    );
    const { error, data, frameSizes } = await runner.bundle({ descriptor: "stage", data: { in: frames } });
    assert.equal(error, "");
    const out = readPlain(data["out:Parts.out"]).map(({ value }) => value);
    assert.ok(Buffer.compare(out[0]!, inner) === 0);
    assert.equal(out.length, 1 + Math.ceil(whole.length / 300_000));
    assert.ok(frameSizes.length > 8, "the small ones are sent in several frames");
    assert.ok(frameSizes.slice(1).every((size) => size < 1024 * 1024 + 400_000));
  });

  test("whose bytes end within an element, or are none of its coder, fails", async (t) => {
    const { runner } = await startOnly(t, same);
    const whole = wordBytes("abc");
    const cut = await runner.bundle({ descriptor: "stage", data: { in: [whole.subarray(0, whole.length - 1)] } });
    assert.match(cut.error, /end within one/);
    const twoWindows = Buffer.from(whole);
    twoWindows[11] = 2;
    const strange = await runner.bundle({ descriptor: "stage", data: { in: [twoWindows] } });
    assert.match(strange.error, /an element in 2 windows/);
    const other = await runner.bundle({ descriptor: "stage", data: { in: [keyedBytes(["key", "word"])] } });
    assert.notEqual(other.error, "");
    const fine = await runner.bundle({ descriptor: "stage", data: { in: [whole] } });
    assert.equal(fine.error, "");
  });
});

suite("a bundle that fails", () => {
  test("answers with what its DoFn threw, sends no end, and its instance is torn down", async (t) => {
    const lives: string[] = [];
    const fragile = each(
      "fragile",
      { in: word, out: word },
      async ({ word: one }, emit) => {
        await sleep(clock, 1);
        if (one === "bad") throw new Error("no such luck");
        emit({ word: one });
      },
      (instance) => ({ setup: () => void lives.push(`${instance} up`), teardown: () => void lives.push(`${instance} down`) }),
    );
    const { runner, harness, logged } = await startOnly(t, fragile);
    const run = (...given: string[]) => runner.bundle({ descriptor: "stage", data: { in: [wordBytes(...given)] } });
    assert.equal((await run("a")).error, "");
    const failed = await run("a", "bad", "b");
    assert.match(failed.error, /Only: no such luck/);
    assert.deepEqual(failed.data, {});
    assert.deepEqual(readWords((await run("c")).data["out:Only.out"]), ["c"]);
    assert.deepEqual(lives, ["0 up", "0 down", "1 up"]);
    assert.deepEqual(harness.health().bundles, { running: 0, done: 2, failed: 1 });
    assert.equal(harness.health().kept.instances, 1);
    assert.equal(logged.filter((line) => line === "warn: a bundle failed").length, 1);
  });

  test("answers at once, though the runner has more to send", async (t) => {
    const fragile = each("fragile", { in: word, out: word }, async () => {
      await sleep(clock, 5);
      throw new Error("no such luck");
    });
    const { runner } = await startOnly(t, fragile);
    const failed = runner.bundle({ descriptor: "stage" }, "doomed");
    await runner.write({
      data: [{ instructionId: "doomed", transformId: "in", data: wordBytes("a"), isLast: false }],
      timers: [],
    });
    const begun = clock.now();
    assert.match((await failed).error, /no such luck/);
    assert.ok(clock.now() - begun < 3000, "without the wait for calls that hang");
  });

  test("takes no note of the frames that still come for it", async (t) => {
    const fragile = each("fragile", { in: word, out: word }, ({ word: one }) => {
      if (one === "bad") throw new Error("no such luck");
    });
    const { runner, harness } = await startOnly(t, fragile);
    const failed = runner.bundle({ descriptor: "stage" }, "doomed");
    const frame = { instructionId: "doomed", transformId: "in", data: wordBytes("bad"), isLast: false };
    await sleep(clock, 20);
    await runner.write({ data: [frame], timers: [] });
    assert.match((await failed).error, /no such luck/);
    for (let count = 0; count < 10; count++) await runner.write({ data: [frame], timers: [] });
    await runner.bundle({ descriptor: "stage", data: { in: [] } });
    assert.equal(harness.health().kept.inboxes, 0);
    assert.equal(harness.health().kept.inboundBytes, 0);
  });

  test("in setup, startBundle or finishBundle says which", async (t) => {
    for (const where of ["setup", "startBundle", "finishBundle"] as const) {
      const fragile = each(
        "fragile",
        { in: word, out: word },
        () => undefined,
        () => ({
          [where]: async () => {
            throw new Error(`broken in ${where}`);
          },
        }),
      );
      const { runner, harness } = await startOnly(t, fragile);
      const { error } = await runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a")] } });
      assert.match(error, new RegExp(`broken in ${where}`));
      assert.equal(harness.health().kept.instances, 0);
    }
  });

  test("as its stage cannot be done, says why, and the next asks for the stage again", async (t) => {
    const { runner } = await startAtFake(t, [same]);
    const missing = await runner.bundle({ descriptor: "stage" });
    assert.match(missing.error, /no such descriptor/);
    const good = stageOf((p) => void p.each("Only", same, {}, p.source("Source", source, {}).out), {
      only: ["Only"],
      endpoint: runner.endpoint,
    });
    const with_ = (change: (d: typeof good) => void) => {
      const copy = structuredClone(good);
      change(copy);
      return copy;
    };
    const only = Object.keys(good.transforms).find((id) => good.transforms[id]!.uniqueName === "Only")!;
    const cases: [RegExp, typeof good][] = [
      [
        /Only: the harness cannot do beam:transform:combine:v9/,
        with_((d) => (d.transforms[only]!.spec!.urn = "beam:transform:combine:v9")),
      ],
      [
        /coder .* of a kind that the harness does not know: beam:coder:row:v1/,
        with_(
          (d) => (Object.values(d.coders).find((c) => c.spec?.urn === "beam:coder:bytes:v1")!.spec!.urn = "beam:coder:row:v1"),
        ),
      ],
      [
        /global window alone/,
        with_(
          (d) =>
            (Object.values(d.coders).find((c) => c.spec?.urn === "beam:coder:global_window:v1")!.spec!.urn =
              "beam:coder:interval_window:v1"),
        ),
      ],
      [/no data source/, with_((d) => delete d.transforms.in)],
    ];
    for (const [why, descriptor] of cases) {
      runner.register(descriptor);
      assert.match((await runner.bundle({ descriptor: "stage" })).error, why);
    }
    runner.register(good);
    assert.equal((await runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a")] } })).error, "");
    const unknown = await startAtFake(t, []);
    unknown.runner.register(good);
    assert.match((await unknown.runner.bundle({ descriptor: "stage" })).error, /Only: no DoFn is registered as 'same'/);
  });
});

suite("what a runner asks beside bundles", () => {
  const waits = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = each("held", { in: word, out: word }, async (one, emit) => {
      emit(one);
      await promise;
    });
    return { held, resolve };
  };

  test("progress of a bundle counts what has come and gone so far; of an unknown one nothing", async (t) => {
    const { held, resolve } = waits();
    const { runner } = await startOnly(t, held);
    const running = runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a", "b")] } }, "now");
    await sleep(clock, 30);
    const ask = async (instructionId: string) => {
      const { response } = await runner.instruct({
        oneofKind: "processBundleProgress",
        processBundleProgress: { instructionId },
      });
      assert.ok(response.oneofKind === "processBundleProgress");
      return response.processBundleProgress;
    };
    const progress = await ask("now");
    assert.deepEqual(
      Object.values(progress.monitoringData).map((payload) => payload[0]),
      [2, 2],
    );
    assert.deepEqual((await ask("other")).monitoringInfos, []);
    const ids = Object.keys(progress.monitoringData);
    const { response } = await runner.instruct({
      oneofKind: "monitoringInfos",
      monitoringInfos: { monitoringInfoId: [...ids, "strange"] },
    });
    assert.ok(response.oneofKind === "monitoringInfos");
    const named = response.monitoringInfos.monitoringInfo;
    assert.deepEqual(Object.keys(named).sort(), ids.sort());
    assert.ok(
      Object.values(named).every(
        ({ urn, labels }) => urn === "beam:metric:element_count:v1" && labels.PCOLLECTION !== undefined,
      ),
    );
    const split = await runner.instruct({
      oneofKind: "processBundleSplit",
      processBundleSplit: { instructionId: "now", desiredSplits: {} },
    });
    assert.ok(split.response.oneofKind === "processBundleSplit");
    assert.deepEqual(split.response.processBundleSplit, { primaryRoots: [], residualRoots: [], channelSplits: [] });
    resolve();
    assert.equal((await running).error, "");
  });

  test("a bundle is finalized once, after its callbacks were asked for, and a failing one is logged", async (t) => {
    const called: string[] = [];
    const acknowledges = each("acknowledges", { in: word, out: word }, ({ word: one }, _emit, context) =>
      context.afterCommit(async () => {
        called.push(one);
        if (one === "b") throw new Error("too late");
      }),
    );
    const { runner, harness, logged } = await startOnly(t, acknowledges);
    const { id, response } = await runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a", "b", "c")] } });
    assert.equal(response.requiresFinalization, true);
    assert.deepEqual(called, []);
    assert.equal(harness.health().kept.finalizers, 1);
    for (let time = 0; time < 2; time++) {
      const end = await runner.instruct({ oneofKind: "finalizeBundle", finalizeBundle: { instructionId: id } });
      assert.equal(end.error, "");
      assert.equal(end.response.oneofKind, "finalizeBundle");
    }
    assert.deepEqual(called, ["a", "b", "c"]);
    assert.equal(harness.health().kept.finalizers, 0);
    assert.deepEqual(logged, ["error: an afterCommit failed"]);
  });

  test("an instruction that nobody knows is answered with an error, a registered descriptor is known", async (t) => {
    const { runner } = await startAtFake(t, [same]);
    assert.match((await runner.instruct({ oneofKind: undefined })).error, /does not know/);
    const descriptor = stageOf((p) => void p.each("Only", same, {}, p.source("Source", source, {}).out), {
      only: ["Only"],
      endpoint: runner.endpoint,
    });
    await runner.instruct({ oneofKind: "register", register: { processBundleDescriptor: [descriptor] } });
    const { error } = await runner.bundle({ descriptor: "stage", embedded: true, data: { in: [wordBytes("a")] } });
    assert.equal(error, "");
  });
});

test("a context that is used after its bundle is refused", async (t) => {
  let kept: { emit: (output: "out", value: Word) => void } | undefined;
  const keeps = each("keeps", { in: word, out: word }, (_one, _emit, context) => {
    kept = context as typeof kept;
  });
  const { runner } = await startOnly(t, keeps);
  await runner.bundle({ descriptor: "stage", data: { in: [wordBytes("a")] } });
  assert.throws(() => kept!.emit("out", { word: "b" }), /after its end/);
});

function varint(value: number): Buffer {
  const digits: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) digits.push((rest & 0x7f) | 0x80);
  return Buffer.from([...digits, rest]);
}
