import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sleep } from "../../../ports/clock.ts";
import { batches, keyedWord, keyedWordsDoFn, type WordContext } from "../lib.ts";
import { AT, clock, keyedBytes, readKeyed, readTimers, stageOf, startAtFake, timerBytes } from "./lib.ts";

const source = batches("source", keyedWord, []);

type Options = NonNullable<Parameters<typeof startAtFake>[2]>;

/** A stage of one keyed DoFn; `run` gives it elements and timers, as pairs and as keys by family. */
async function startKeyed(
  t: Parameters<typeof startAtFake>[0],
  doFn: ReturnType<typeof keyedWordsDoFn>,
  options: Options = {},
) {
  const started = await startAtFake(t, [doFn], options);
  const { runner } = started;
  const descriptor = stageOf((p) => void p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out), {
    only: ["Keyed"],
    endpoint: runner.endpoint,
  });
  const id = Object.keys(descriptor.transforms).find((name) => descriptor.transforms[name]!.uniqueName === "Keyed")!;
  runner.register(descriptor);
  async function run({
    pairs = [],
    fired = {},
    token,
  }: {
    pairs?: [string, string][];
    fired?: Record<string, string[]>;
    token?: string;
  }) {
    const timers = Object.fromEntries(
      Object.entries(fired).map(([family, keys]) => [`${id}/${family}`, [timerBytes(...keys.map((key) => ({ key })))]]),
    );
    const output = await runner.bundle({
      ...{ descriptor: "stage", timers, families: [`${id}/bell`, `${id}/horn`] },
      data: { in: pairs.length > 0 ? [keyedBytes(...pairs)] : [] },
      ...(token !== undefined && { token }),
    });
    const set = (family: string) => readTimers(output.timers[`${id}/${family}`]);
    return {
      error: output.error,
      out: readKeyed(output.data["out:Keyed.out"]),
      bell: set("bell"),
      horn: set("horn"),
      response: output.response,
    };
  }
  const requests = (kind: string) => runner.asked.filter(({ request }) => request.oneofKind === kind).length;
  return { ...started, run, requests, descriptor, id };
}

const sums = (trace: string[] = []) =>
  keyedWordsDoFn("sums", async ({ word }, context) => {
    const memo = context.state("memo");
    const before = (await memo.get())?.count;
    trace.push(`${context.key}:${before}`);
    if (word === "clear") memo.clear();
    else if (word !== "look") memo.set({ count: (before ?? 0) + Number(word) });
  });

suite("the state of a key", () => {
  test("shows a bundle its own writes, outlives the bundle, and is the key's own", async (t) => {
    const trace: string[] = [];
    const { run, runner } = await startKeyed(t, sums(trace));
    await run({
      pairs: [
        ["a", "1"],
        ["a", "2"],
        ["b", "5"],
        ["a", "clear"],
        ["a", "4"],
      ],
    });
    await run({
      pairs: [
        ["a", "0"],
        ["b", "clear"],
      ],
    });
    const of = (key: string) => trace.filter((line) => line.startsWith(key));
    assert.deepEqual(of("a"), ["a:undefined", "a:1", "a:3", "a:undefined", "a:4"]);
    assert.deepEqual(of("b"), ["b:undefined", "b:5"]);
    assert.deepEqual(
      [...runner.state.keys()].map((name) => name.split("/").at(-1)),
      ["a"],
    );
  });

  test("costs a key one read and one write a bundle, however often it is touched; what is unchanged is not written", async (t) => {
    const { run, requests } = await startKeyed(t, sums());
    await run({
      pairs: [
        ["a", "1"],
        ["a", "2"],
        ["a", "3"],
      ],
    });
    assert.deepEqual([requests("get"), requests("clear"), requests("append")], [1, 0, 1], "nothing to clear yet");
    await run({
      pairs: [
        ["a", "1"],
        ["a", "2"],
      ],
    });
    assert.deepEqual([requests("get"), requests("clear"), requests("append")], [2, 0, 2], "the newest counts");
    await run({
      pairs: [
        ["a", "0"],
        ["b", "clear"],
      ],
    });
    assert.deepEqual([requests("get"), requests("clear"), requests("append")], [4, 0, 2]);
    await run({ pairs: [["a", "clear"]] });
    assert.deepEqual([requests("get"), requests("clear"), requests("append")], [5, 1, 2]);
  });

  test("comes later by what a measurement holds its answers back", async (t) => {
    const trace: string[] = [];
    const { run } = await startKeyed(t, sums(trace), { stateDelayMs: 50 });
    const began = clock.now();
    await run({ pairs: [["a", "1"]] });
    assert.ok(clock.now() - began >= 95, "a read, then a write");
    await run({ pairs: [["a", "look"]] });
    assert.deepEqual(trace, ["a:undefined", "a:1"]);
  });

  test("that is set unread is cleared and written", async (t) => {
    const blind = keyedWordsDoFn("blind", ({ word }, context) => context.state("memo").set({ count: Number(word) }));
    const { run, requests } = await startKeyed(t, blind);
    await run({ pairs: [["a", "1"]] });
    assert.deepEqual([requests("get"), requests("clear"), requests("append")], [0, 1, 1]);
  });

  test("is the newest of a few values in its bag, which is emptied once it has eight", async (t) => {
    const trace: string[] = [];
    const { run, requests, runner } = await startKeyed(t, sums(trace));
    for (let bundle = 0; bundle < 20; bundle++) await run({ pairs: [["a", "1"]] });
    assert.deepEqual(
      trace,
      Array.from({ length: 20 }, (_, before) => `a:${before === 0 ? undefined : before}`),
    );
    assert.deepEqual([requests("get"), requests("clear"), requests("append")], [20, 2, 20]);
    const [bag] = runner.state.values();
    assert.equal(bag!.length, 4 * 4, "the 17th to the 20th");
  });

  test("is told from older values by what stood before it, in whatever order the runner gives them", async (t) => {
    const trace: string[] = [];
    const { run, runner } = await startKeyed(t, sums(trace));
    for (let bundle = 0; bundle < 3; bundle++) await run({ pairs: [["a", "1"]] });
    const [[name, bag] = ["", Buffer.alloc(0)]] = runner.state;
    const elements = [0, 4, 8].map((at) => bag.subarray(at, at + 4));
    runner.state.set(name, Buffer.concat([elements[2]!, elements[0]!, elements[1]!]));
    await run({ pairs: [["a", "look"]] });
    assert.equal(trace.at(-1), "a:3");
  });

  test("that is set while it is being read is what was set", async (t) => {
    const read: unknown[] = [];
    const hasty = keyedWordsDoFn("hasty", async (_value, context) => {
      const memo = context.state("memo");
      const reading = memo.get();
      memo.set({ count: 9 });
      await reading;
      read.push(await memo.get());
    });
    const { run, runner } = await startKeyed(t, hasty);
    await run({ pairs: [["a", "x"]] });
    await run({ pairs: [["b", "x"]] });
    assert.deepEqual(read, [{ count: 9 }, { count: 9 }]);
    assert.deepEqual(
      [...runner.state.values()].map((bag) => bag.toString("hex")),
      ["03000109", "03000109"],
    );
  });

  test("that comes in pieces by continuation tokens is put together", async (t) => {
    const trace: string[] = [];
    const { run } = await startKeyed(t, sums(trace), { fake: { stateChunk: 1 } });
    await run({ pairs: [["a", "123456"]] });
    await run({ pairs: [["a", "look"]] });
    assert.deepEqual(trace, ["a:undefined", "a:123456"]);
  });

  test("is not read again while the runner's token is the same; another token means that nothing is known", async (t) => {
    const trace: string[] = [];
    const { run, requests, harness } = await startKeyed(t, sums(trace));
    await run({
      pairs: [
        ["a", "1"],
        ["b", "look"],
      ],
      token: "one",
    });
    await run({
      pairs: [
        ["a", "1"],
        ["b", "look"],
      ],
      token: "one",
    });
    await run({ pairs: [["a", "1"]], token: "one" });
    assert.deepEqual([requests("get"), requests("clear"), requests("append")], [2, 0, 3]);
    await run({ pairs: [["a", "1"]], token: "two" });
    assert.equal(requests("get"), 3);
    await run({ pairs: [["a", "look"]] });
    assert.equal(requests("get"), 4);
    assert.deepEqual(
      trace.filter((line) => line.startsWith("a")),
      ["a:undefined", "a:1", "a:2", "a:3", "a:4"],
    );
    assert.equal(harness.health().kept.cacheEntries, 3);
  });

  test("that a failed bundle has read or written is not kept", async (t) => {
    const fragile = keyedWordsDoFn("fragile", async ({ word }, context) => {
      const memo = context.state("memo");
      const before = (await memo.get())?.count ?? 0;
      memo.set({ count: before + 1 });
      if (word === "bad") throw new Error("no luck");
    });
    const { run, requests, harness } = await startKeyed(t, fragile);
    await run({ pairs: [["a", "good"]], token: "one" });
    assert.equal(harness.health().kept.cacheEntries, 1);
    assert.match(
      (
        await run({
          pairs: [
            ["a", "bad"],
            ["b", "bad"],
          ],
          token: "one",
        })
      ).error,
      /Keyed: no luck/,
    );
    assert.equal(harness.health().kept.cacheEntries, 0);
    assert.deepEqual([requests("clear"), requests("append")], [0, 1], "a failed bundle writes nothing");
    await run({ pairs: [["a", "good"]], token: "one" });
    assert.equal(requests("get"), 3);
  });

  test("kept from bundle to bundle is bounded, the least used goes first", async (t) => {
    const { run, requests, harness } = await startKeyed(t, sums(), { stateCacheBytes: 100 * 200 });
    const pairs = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index): [string, string] => [`k${from + index}`, "1"]);
    await run({ pairs: pairs(0, 300), token: "one" });
    const { cacheBytes, cacheEntries } = harness.health().kept;
    assert.ok(cacheBytes <= 100 * 200 && cacheEntries > 80 && cacheEntries < 120, `${cacheBytes} bytes in ${cacheEntries}`);
    const before = requests("get");
    await run({ pairs: pairs(290, 300), token: "one" });
    assert.equal(requests("get"), before);
    await run({ pairs: pairs(0, 10), token: "one" });
    assert.equal(requests("get"), before + 10);
  });

  test("that the runner refuses fails the bundle; what it never answers to is not waited for once the bundle has failed", async (t) => {
    const refuses = await startKeyed(t, sums(), {
      fake: { stateFault: ({ request }) => (request.oneofKind === "append" ? "disk full" : undefined) },
    });
    assert.match((await refuses.run({ pairs: [["a", "1"]] })).error, /disk full/);
    const mixed = keyedWordsDoFn("mixed", async ({ word }, context) => {
      if (word === "bad") {
        await sleep(clock, 10);
        throw new Error("no luck");
      }
      await context.state("memo").get();
    });
    const silent = await startKeyed(t, mixed, { fake: { stateFault: () => "silent" } });
    const begun = clock.now();
    assert.match(
      (
        await silent.run({
          pairs: [
            ["a", "look"],
            ["b", "bad"],
          ],
        })
      ).error,
      /no luck/,
    );
    assert.ok(clock.now() - begun < 3000, "without the wait for calls that hang");
    assert.equal(silent.harness.health().kept.stateWaiting, 0);
  });
});

suite("the calls of a bundle", () => {
  test("for one key come one after another in their order, timers among them; those for other keys side by side", async (t) => {
    const trace: string[] = [];
    const call = (name: string, waitMs: number) => async (context: WordContext) => {
      trace.push(`${context.key}${name} begins`);
      await sleep(clock, waitMs);
      trace.push(`${context.key}${name} ends`);
    };
    const doFn = keyedWordsDoFn(
      "slow",
      ({ word }, context) => call(word, word === "1" ? 30 : 5)(context),
      (_family, context) => call("!", 5)(context),
    );
    const { run } = await startKeyed(t, doFn);
    await run({
      pairs: [
        ["a", "1"],
        ["a", "2"],
        ["b", "1"],
        ["a", "3"],
      ],
      fired: { bell: ["a", "c"] },
    });
    const of = (key: string) => trace.filter((line) => line.startsWith(key)).map((line) => line.slice(1));
    assert.deepEqual(of("a"), ["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends", "! begins", "! ends"]);
    assert.ok(trace.indexOf("b1 begins") < trace.indexOf("a1 ends"));
    assert.ok(trace.indexOf("c! ends") < trace.indexOf("a1 ends"));
  });

  test("for ten thousand keys are all made, with their state", async (t) => {
    const { run, runner, harness } = await startKeyed(t, sums());
    const pairs = Array.from({ length: 10_000 }, (_, index): [string, string] => [`host-${index}`, "1"]);
    assert.equal((await run({ pairs })).error, "");
    assert.equal(runner.state.size, 10_000);
    assert.deepEqual(new Set([...runner.state.values()].map((bag) => bag.toString("hex"))), new Set(["03000101"]));
    assert.equal(harness.health().kept.stateWaiting, 0);
  });

  test("read state of different keys side by side, so that slow answers overlap", async (t) => {
    const { run } = await startKeyed(t, sums(), { fake: { stateDelayMs: 2 } });
    const pairs = Array.from({ length: 1000 }, (_, index): [string, string] => [`host-${index}`, "1"]);
    const begun = clock.now();
    await run({ pairs });
    // One after another they would take 2 s for the reads and 2 s for the writes.
    assert.ok(clock.now() - begun < 1500, `${clock.now() - begun} ms`);
  });

  test("emit under the key at the time of what they were called for", async (t) => {
    const echo = keyedWordsDoFn(
      "echo",
      ({ word }, context) => context.emit("out", { key: context.key, value: { word } }),
      (family, context) => context.emit("out", { key: context.key, value: { word: family } }),
    );
    const { run } = await startKeyed(t, echo);
    const { out } = await run({ pairs: [["a", "x"]], fired: { horn: ["b"] } });
    assert.deepEqual(out, [
      { at: AT, value: { key: "a", value: "x" } },
      { at: AT, value: { key: "b", value: "horn" } },
    ]);
  });
});

suite("a timer", () => {
  const sets = keyedWordsDoFn(
    "sets",
    ({ word }, context) => {
      if (word === "clear") context.clearTimer("bell");
      else context.setTimer(word.startsWith("h") ? "horn" : "bell", AT + Number(word.replace("h", "")));
    },
    (family, context) => context.setTimer(family, AT + 9000.25),
  );

  test("is set, replaced and cleared at the bundle's end, each key's last word alone", async (t) => {
    const { run } = await startKeyed(t, sets);
    const now = clock.now();
    const { bell, horn } = await run({
      pairs: [
        ["a", "1000"],
        ["a", "2000"],
        ["b", "5"],
        ["b", "clear"],
        ["c", "h7"],
        ["c", "8"],
      ],
    });
    assert.deepEqual(
      bell.map(({ key, fireAt }) => [key, fireAt]),
      [
        ["a", AT + 2000],
        ["b", undefined],
        ["c", AT + 8],
      ],
    );
    assert.deepEqual(
      horn.map(({ key, fireAt }) => [key, fireAt]),
      [["c", AT + 7]],
    );
    // What it holds is not the element's time, years ago, but now: the watermark goes on.
    assert.ok(horn[0]!.holdAt! >= now && horn[0]!.holdAt! <= clock.now());
  });

  test("that fires may set itself anew, never before its time", async (t) => {
    const { run } = await startKeyed(t, sets);
    const { bell, horn } = await run({ fired: { bell: ["a", "b"] } });
    assert.deepEqual(
      bell.map(({ key, fireAt }) => [key, fireAt]),
      [
        ["a", AT + 9001],
        ["b", AT + 9001],
      ],
    );
    assert.deepEqual(horn, []);
  });

  test("that fired is not cleared at the runner, which has it no more", async (t) => {
    const done = keyedWordsDoFn(
      "done",
      ({ word }, context) => context.clearTimer(word),
      (family, context) => context.clearTimer(family),
    );
    const { run } = await startKeyed(t, done);
    const { bell, horn } = await run({
      pairs: [
        ["a", "bell"],
        ["b", "horn"],
      ],
      fired: { bell: ["b", "c"] },
    });
    assert.deepEqual(bell, [{ key: "a", fireAt: undefined }]);
    assert.deepEqual(horn, [{ key: "b", fireAt: undefined }]);
  });

  test("that fired is not told of where the bundle has set or cleared it before", async (t) => {
    const fired: string[] = [];
    const doFn = keyedWordsDoFn(
      "late",
      async ({ word }, context) => {
        await sleep(clock, 30); // the timer is there by then
        if (word === "set") context.setTimer("bell", AT);
        else context.clearTimer("bell");
      },
      (family, context) => void fired.push(context.key + family),
    );
    const { run } = await startKeyed(t, doFn);
    const { bell } = await run({
      pairs: [
        ["a", "set"],
        ["b", "clear"],
      ],
      fired: { bell: ["a", "b", "c"], horn: ["a"] },
    });
    assert.deepEqual(fired.sort(), ["ahorn", "cbell"]);
    assert.deepEqual(
      bell.map(({ key, fireAt }) => [key, fireAt]),
      [["a", AT]],
    );
  });

  test("of a DoFn without onTimer, of no family or at no time fails the bundle", async (t) => {
    const deaf = await startKeyed(
      t,
      keyedWordsDoFn("deaf", () => undefined),
    );
    assert.match((await deaf.run({ fired: { bell: ["a"] } })).error, /no onTimer/);
    const odd = await startKeyed(
      t,
      keyedWordsDoFn("odd", ({ word }, context) => context.setTimer(word, word === "bell" ? Number.NaN : 1)),
    );
    assert.match((await odd.run({ pairs: [["a", "gong"]] })).error, /no timer family 'gong'/);
    assert.match((await odd.run({ pairs: [["a", "bell"]] })).error, /cannot fire at NaN/);
  });
});

test("a stage whose cells or timers are not the DoFn's is refused", async (t) => {
  const doFn = sums();
  const other = { ...sums(), timers: ["bell"] };
  const { runner } = await startAtFake(t, [other]);
  runner.register(
    stageOf((p) => void p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out), {
      only: ["Keyed"],
      endpoint: runner.endpoint,
    }),
  );
  assert.match((await runner.bundle({ descriptor: "stage" })).error, /Keyed: the proto and the DoFn 'sums' differ/);
});
