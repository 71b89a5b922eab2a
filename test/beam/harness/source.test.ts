import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { BundleContext, SourceDefinition } from "../../../beam/dofn.ts";
import { sleep } from "../../../ports/clock.ts";
import { word } from "../lib.ts";
import {
  clock,
  impulseBytes,
  readPlain,
  readRestricted,
  readSized,
  readWords,
  restrictedBytes,
  sizedBytes,
  sourceStage,
  startAtFake,
} from "./lib.ts";

const PROCESS = "sdf_process_sized_element_and_restrictions";

type Poll = (context: BundleContext<{ out: typeof word }>, turn: number) => number | Promise<number>;

interface Given {
  poll: Poll;
  watch?: (wake: () => void) => () => void;
  watermark?: () => number;
  teardown?: () => void;
}

function sourceOf({ poll, ...more }: Given): SourceDefinition<{ out: typeof word }, object, unknown> {
  let turn = 0;
  return {
    form: "source",
    name: "ticks",
    outputs: { out: word },
    make: () => ({ poll: async (context) => poll(context, turn++), ...more }),
  };
}

async function startSource(
  t: Parameters<typeof startAtFake>[0],
  given: Given,
  options: Parameters<typeof startAtFake>[2] = {},
) {
  const definition = sourceOf(given);
  const started = await startAtFake(t, [definition], options);
  const { runner } = started;
  for (const part of [
    "sdf_pair_with_restriction",
    "sdf_split_and_size_restrictions",
    PROCESS,
    "sdf_truncate_sized_restrictions",
  ] as const)
    runner.register(sourceStage(definition, part, runner.endpoint));
  async function run(input: Uint8Array = sizedBytes()) {
    const begun = clock.now();
    const { error, data, response, id } = await runner.bundle({ descriptor: PROCESS, data: { in: [input] } });
    assert.equal(error, "");
    const [out] = Object.values(data);
    const [residual] = response.residualRoots;
    const { seconds, nanos } = residual!.requestedTimeDelay!;
    const delayMs = Number(seconds) * 1000 + nanos / 1e6;
    return {
      words: readWords(out),
      out: readPlain(out),
      residual: residual!.application!,
      delayMs,
      tookMs: clock.now() - begun,
      id,
      response,
    };
  }
  return { ...started, run };
}

const give = (context: BundleContext<{ out: typeof word }>, ...words: string[]) => {
  for (const one of words) context.emit("out", { word: one });
};

suite("a source as a splittable DoFn", () => {
  test("pairs its impulse with a restriction and gives it a size; at a drain nothing is left", async (t) => {
    const { runner } = await startSource(t, { poll: () => 0 });
    const one = async (descriptor: string, input: Uint8Array) =>
      Object.values((await runner.bundle({ descriptor, data: { in: [input] } })).data)[0];
    const paired = await one("sdf_pair_with_restriction", impulseBytes());
    assert.deepEqual(
      readRestricted(paired).map(({ value }) => value.value),
      [{ key: "", value: "" }],
    );
    const split = await one("sdf_split_and_size_restrictions", restrictedBytes());
    assert.deepEqual(
      readSized(split).map(({ value }) => [value.key.value, value.value]),
      [[{ key: "", value: "" }, 1]],
    );
    assert.equal(await one("sdf_truncate_sized_restrictions", sizedBytes()), undefined);
  });

  test("emits what it polls at the time of the poll, and comes again after its delay, with a watermark no element is later than", async (t) => {
    const { run } = await startSource(t, {
      poll(context, turn) {
        give(context, `${turn}`);
        return 5000;
      },
    });
    const before = clock.now();
    const first = await run();
    assert.deepEqual(first.words, ["0"]);
    assert.equal(first.delayMs, 5000);
    assert.equal(first.residual.isBounded, 1); // UNBOUNDED
    const [again] = readSized(first.residual.element);
    const watermark = Number(again!.value.key.value.value);
    assert.ok(first.out[0]!.at >= before && watermark >= first.out[0]!.at && watermark <= clock.now());
    const told = Object.values(first.residual.outputWatermarks)[0]!;
    assert.equal(Number(told.seconds) * 1000 + told.nanos / 1e6, watermark);
    const second = await run(first.residual.element);
    assert.deepEqual(second.words, ["1"]);
    assert.ok(second.out[0]!.at >= watermark);
  });

  const watermarks: [told: number[], watermarks: number[]][] = [
    [
      [1000, 2500],
      [1000, 2500],
    ],
    [
      [5000, 1000],
      [5000, 5000],
    ],
    [
      [-1500, 0],
      [-1500, 0],
    ],
    [
      [Number.NEGATIVE_INFINITY, 7.9],
      [-8.64e15, 7],
    ],
    [
      [Number.POSITIVE_INFINITY, 0],
      [8.64e15, 8.64e15],
    ],
  ];
  for (const [told, expected] of watermarks)
    test(`that tells the times ${told.join(" and ")} comes again with ${expected.join(" and ")}, and gives what it gives there`, async (t) => {
      let polls = 0;
      const poll: Poll = (context) => {
        give(context, `${polls++}`);
        return 1000;
      };
      const watermark = () => (polls === 0 ? 0 : told[polls - 1]!);
      const { run } = await startSource(t, { poll, watermark });
      const first = await run();
      const second = await run(first.residual.element);
      const residualOf = ({ residual }: typeof first) => {
        const { seconds, nanos } = Object.values(residual.outputWatermarks)[0]!;
        assert.ok(nanos >= 0 && nanos < 1e9, `${nanos}`);
        return Number(seconds) * 1000 + nanos / 1e6;
      };
      assert.deepEqual([first, second].map(residualOf), expected);
      assert.deepEqual([first.out[0]!.at, second.out[0]!.at], [0, expected[0]], "what comes stands at what was told before");
    });

  test("whose time is no number fails its bundle", async (t) => {
    const { runner } = await startSource(t, { poll: () => 1000, watermark: () => Number.NaN });
    assert.match((await runner.bundle({ descriptor: PROCESS, data: { in: [sizedBytes()] } })).error, /watermark .* NaN/);
  });

  const delays: [answered: number, stepMs: number | undefined, delayMs: number][] = [
    [0.5, undefined, 1000],
    [1001, undefined, 2000],
    [30_000, undefined, 30_000],
    [250, 100, 300],
    [1, 1, 1],
    [Number.POSITIVE_INFINITY, undefined, 86_400_000],
  ];
  for (const [answered, stepMs, expected] of delays)
    test(`that answers ${answered} ms comes again after ${expected} ms where the runner counts in ${stepMs ?? "seconds"}`, async (t) => {
      const poll: Poll = (context) => {
        give(context, "x");
        return answered;
      };
      const { run } = await startSource(t, { poll }, stepMs === undefined ? {} : { delayStepMs: stepMs });
      assert.equal((await run()).delayMs, expected);
    });

  test("with more at hand is polled on within the bundle, a while and so many elements at most, and comes again at once", async (t) => {
    const { run } = await startSource(t, {
      poll(context, turn) {
        give(context, ...Array.from({ length: 100 }, () => `${turn}`));
        return 0;
      },
    });
    const { words, delayMs, tookMs } = await run();
    assert.ok(words.length >= 100 && words.length <= 1100, `${words.length}`);
    assert.equal(delayMs, 0);
    assert.ok(tookMs < 2000);
  });

  test("that finds nothing waits for an arrival, gives what came and is asked again soon", async (t) => {
    const queue: string[] = [];
    let wake: () => void = () => undefined;
    let watching = 0;
    const given: Given = {
      poll(context) {
        give(context, ...queue.splice(0));
        return 30_000;
      },
      watch(heard) {
        watching++;
        wake = heard;
        return () => watching--;
      },
    };
    const { run, harness } = await startSource(t, given);
    const idle = await run();
    assert.deepEqual(idle.words, []);
    assert.ok(idle.tookMs >= 400 && idle.tookMs < 3000, `${idle.tookMs}`);
    assert.equal(idle.delayMs, 1000, "no runner cuts the half minute short");
    const woken = run();
    await sleep(clock, 50);
    queue.push("a", "b");
    wake();
    assert.deepEqual((await woken).words, ["a", "b"]);
    queue.push("c");
    wake(); // between two polls
    assert.deepEqual((await run()).words, ["c"]);
    assert.equal(watching, 1);
    await harness.stop();
    assert.equal(watching, 0);
  });

  test("that is woken while it looks in vain is polled again", async (t) => {
    let wake: () => void = () => undefined;
    await atOnce(async () => {
      const { run } = await startSource(t, {
        poll(context, turn) {
          if (turn === 0) wake();
          else give(context, `${turn}`);
          return 30_000;
        },
        watch(heard) {
          wake = heard;
          return () => undefined;
        },
      });
      const { words, tookMs } = await run();
      assert.deepEqual(words, ["1"]);
      return tookMs;
    });
  });

  test("that watches nothing, or says that there is more and gives none, ends its bundle at once", async (t) => {
    for (const [answered, delayMs] of [
      [30_000, 30_000],
      [0, 0],
    ] as const) {
      await atOnce(async () => {
        let polls = 0;
        const { run } = await startSource(t, {
          poll() {
            polls++;
            return answered;
          },
          ...(answered === 0 && { watch: () => () => undefined }),
        });
        const idle = await run();
        assert.deepEqual([idle.delayMs, idle.words, polls], [delayMs, [], 1]);
        return idle.tookMs;
      });
    }
  });

  test("that waits for an arrival checkpoints itself at once when the runner wants to split", async (t) => {
    await atOnce(async () => {
      const { run, runner } = await startSource(t, { poll: () => 30_000, watch: () => () => undefined });
      const running = run();
      await sleep(clock, 50);
      await runner.instruct({
        oneofKind: "processBundleSplit",
        processBundleSplit: { instructionId: "b0", desiredSplits: {} },
      });
      const { tookMs, delayMs } = await running;
      assert.equal(delayMs, 1000);
      return tookMs;
    });
  });

  test("acknowledges when its bundle is finalized, all polls of it together", async (t) => {
    const acknowledged: number[] = [];
    const { run, runner } = await startSource(t, {
      poll(context, turn) {
        give(context, `${turn}`);
        context.afterCommit(() => void acknowledged.push(turn));
        return turn < 2 ? 0 : 1000;
      },
    });
    const { id, response } = await run();
    assert.equal(response.requiresFinalization, true);
    assert.deepEqual(acknowledged, []);
    await runner.instruct({ oneofKind: "finalizeBundle", finalizeBundle: { instructionId: id } });
    assert.deepEqual(acknowledged, [0, 1, 2]);
  });

  test("whose poll fails fails its bundle, leaves no rest and is torn down", async (t) => {
    let down = 0;
    const { runner } = await startSource(t, {
      poll(context) {
        give(context, "x");
        context.afterCommit(() => assert.fail("never"));
        throw new Error("the queue is gone");
      },
      teardown: () => void down++,
    });
    const { error, response } = await runner.bundle({ descriptor: PROCESS, data: { in: [sizedBytes()] } });
    assert.match(error, /Source: the queue is gone/);
    assert.deepEqual(response.residualRoots, []);
    await sleep(clock, 10);
    assert.equal(down, 1);
  });
});

/** Of a source's bundle in which nothing comes: 500 ms. */
const SOON_MS = 400;
const TRIES = 5; // a machine that is busy is slow now and then, and not each time

/** `attempt` gives the ms that it took. */
async function atOnce(attempt: () => Promise<number>): Promise<void> {
  const took: number[] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    const ms = await attempt();
    if (ms < SOON_MS) return;
    took.push(ms);
  }
  assert.fail(`it took ${took.join(", ")} ms`);
}
