// Does each call of a bucket come to the right end when it is refused, lost, doubled or late, and say what to do when it cannot?
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type ObjectBucket, openBucket, setUpStorage } from "../../../../io/objects/gcs/bucket.ts";
import type { Clock } from "../../../../ports/clock.ts";
import { StoreError } from "../../../../ports/versioned-table.ts";
import { cloudTests } from "../../../emulators/cloud-tests.ts";
import { type HttpFault, type HttpFaultProxy, startHttpFaultProxy } from "../../../emulators/http-fault-proxy.ts";
import { hastened, namesIn, newBucket, optionsFor, quickClock } from "./given-bucket.ts";

const MIB = 1024 * 1024;
const small = { name: "a/small", bytes: Buffer.from("small"), contentType: "text/plain" };
const large = { name: "a/large", bytes: Buffer.alloc(9 * MIB, "0123456789"), contentType: "text/plain" };

/** By method, for its first calls. */
type Plan = Readonly<Record<string, readonly HttpFault[]>>;

const LATE: HttpFault = { kind: "slow", ms: 1500 }; // half as long again as a small call may take by this clock
const LATE_CLOCK = { limits: 10 };

const survived: { name: string; object: typeof small; plan: Plan; inserts?: number }[] = [
  { name: "nothing", object: small, plan: {}, inserts: 1 },
  { name: "503 twice", object: small, plan: { "objects.insert": Array(2).fill({ kind: "refuse", status: 503 }) }, inserts: 3 },
  { name: "429", object: small, plan: { "objects.insert": [{ kind: "refuse", status: 429 }] }, inserts: 2 },
  { name: "a reset", object: small, plan: { "objects.insert": [{ kind: "refuse", status: "reset" }] }, inserts: 2 },
  { name: "a lost answer", object: small, plan: { "objects.insert": [{ kind: "lose-answer", status: "reset" }] }, inserts: 1 },
  {
    name: "an answer lost as 503",
    object: small,
    plan: { "objects.insert": [{ kind: "lose-answer", status: 503 }] },
    inserts: 1,
  },
  { name: "a doubled call", object: small, plan: { "objects.insert": [{ kind: "double" }] }, inserts: 1 },
  {
    name: "a lost answer, then nobody to ask what stands",
    object: small,
    plan: {
      "objects.insert": [{ kind: "lose-answer", status: "reset" }],
      "objects.get": Array(8).fill({ kind: "refuse", status: 404 }),
    },
  },
  { name: "a late call", object: small, plan: { "objects.insert": [LATE] } },
  { name: "nothing, resumable", object: large, plan: {} },
  { name: "a session lost", object: large, plan: { "objects.insert.begin": [{ kind: "lose-answer", status: "reset" }] } },
];

const PERMANENT: { status: number; says: RegExp }[] = [
  { status: 401, says: /cannot create gs:\/\/bucket-[\d-]+\/a\/small: no valid credentials: run 'gcloud auth/ },
  { status: 403, says: /permission denied: grant this identity roles\/storage\.objectUser/ },
  { status: 404, says: /there is no such bucket: make it by npm run set-up/ },
  { status: 400, says: /the service refuses the call/ },
];

await cloudTests({ storage: true }, (emulators) => {
  /** The faults begin when the bucket stands. */
  async function behindProxy(
    t: TestContext,
    plan: Plan,
    clock: Clock = quickClock(),
    pageNames?: number,
  ): Promise<{ bucket: ObjectBucket; proxy: HttpFaultProxy }> {
    let on = false;
    const proxy = await startHttpFaultProxy({
      target: emulators().endpoint("storage"),
      faults: ({ method, count }) => (on ? plan[method]?.[count - 1] : undefined),
    });
    t.after(() => proxy.stop());
    const bucket = await newBucket(proxy.endpoint, clock, pageNames);
    on = true;
    proxy.reset();
    return { bucket, proxy };
  }

  // side by side, as most of their time is waiting
  describe("a bucket behind faults", { concurrency: 8 }, () => {
    for (const { name, object, plan, inserts } of survived)
      test(`an object is created once, and as it is, through: ${name}`, async (t) => {
        const { bucket, proxy } = await behindProxy(
          t,
          plan,
          quickClock(JSON.stringify(plan).includes("slow") ? LATE_CLOCK : {}),
        );
        assert.equal(await bucket.create(object), "created");
        if (inserts !== undefined) assert.equal(proxy.counts()["objects.insert"], inserts);
        if (object === large) assert.ok(proxy.counts()["objects.insert.chunk"]! >= 2, "it was not sent in chunks");
        const found = await bucket.describe(object.name);
        assert.equal(found?.bytes, object.bytes.length);
        assert.ok(Buffer.from((await bucket.read(object.name))!).equals(object.bytes));
        assert.deepEqual(await namesIn(bucket), [object.name]);
        assert.equal(await bucket.create(object), "created", "made again with the same bytes");
        assert.equal(await bucket.create({ ...object, bytes: Buffer.from("other") }), "taken");
        assert.deepEqual(await bucket.describe(object.name), found);
      });

    for (const { status, says } of PERMANENT)
      test(`status ${status} is told at once, with what to do`, async (t) => {
        const { bucket, proxy } = await behindProxy(t, { "objects.insert": Array(9).fill({ kind: "refuse", status }) });
        await assert.rejects(
          bucket.create(small),
          (error) => error instanceof StoreError && error.final && says.test(error.message),
        );
        assert.equal(proxy.counts()["objects.insert"], 1);
      });

    test("what does not heal in its time is refused, and may be asked for again", async (t) => {
      const { bucket, proxy } = await behindProxy(
        t,
        { "objects.insert": Array(99).fill({ kind: "refuse", status: 503 }) },
        hastened(20),
      );
      await assert.rejects(
        bucket.create(small),
        (error) =>
          error instanceof StoreError && !error.final && /cannot create gs:.*(at the moment|not reached)/.test(error.message),
      );
      const tries = proxy.counts()["objects.insert"]!;
      assert.ok(tries > 1 && tries < 20, `${tries} tries`);
    });

    const calls: { method: string; run: (bucket: ObjectBucket) => Promise<unknown>; expected: unknown }[] = [
      {
        method: "objects.get.media",
        run: async (bucket) => Buffer.from((await bucket.read(small.name))!).toString(),
        expected: "small",
      },
      { method: "objects.get", run: async (bucket) => (await bucket.describe(small.name))?.bytes, expected: 5 },
      { method: "objects.list", run: (bucket) => namesIn(bucket, "a/"), expected: ["a/small"] },
      {
        method: "objects.compose",
        run: async (bucket) => {
          const part = (await bucket.describe(small.name))!;
          const made = await bucket.compose({ name: "b", contentType: "text/plain" }, [part, part]);
          return [made.bytes, Buffer.from((await bucket.read("b"))!).toString()];
        },
        expected: [10, "smallsmall"],
      },
      {
        method: "objects.delete",
        run: async (bucket) => {
          await bucket.remove({ name: small.name, generation: (await bucket.describe(small.name))!.generation });
          return namesIn(bucket);
        },
        expected: [],
      },
    ];
    const faults: HttpFault[] = [
      { kind: "refuse", status: 503 },
      { kind: "refuse", status: "reset" },
      { kind: "lose-answer", status: "reset" },
      { kind: "lose-answer", status: "reset", bytes: 2 },
      { kind: "double" },
      LATE,
    ];
    for (const { method, run, expected } of calls)
      test(`${method} comes to its end through each fault`, async (t) => {
        for (const fault of faults) {
          const { bucket, proxy } = await behindProxy(t, { [method]: [fault] }, quickClock(fault === LATE ? LATE_CLOCK : {}));
          await bucket.create(small);
          assert.deepEqual(await run(bucket), expected, JSON.stringify(fault));
          assert.ok(proxy.counts()[method]! >= 1);
        }
      });

    test("ranges are cut off at the object's end; what is not there is undefined", async (t) => {
      const { bucket } = await behindProxy(t, {});
      await bucket.create(small);
      const range = async (from: number, length: number) =>
        Buffer.from((await bucket.read(small.name, { from, length }))!).toString();
      assert.deepEqual(
        [await range(1, 2), await range(3, 100), await range(5, 1), await range(99, 9), await range(0, 0)],
        ["ma", "ll", "", "", ""],
      );
      assert.equal(await bucket.read("none"), undefined);
      assert.equal(await bucket.read("none", { from: 0, length: 3 }), undefined);
      assert.equal(await bucket.describe("none"), undefined);
      await bucket.remove({ name: "none" });
      await bucket.remove({ name: small.name, generation: "1" });
      assert.deepEqual(await namesIn(bucket), [small.name]);
    });

    test("a composed object is not replaced by another", async (t) => {
      const { bucket } = await behindProxy(t, { "objects.compose": [{ kind: "refuse", status: 412 }] });
      await bucket.create(small);
      await bucket.create({ ...small, name: "target" });
      const part = (await bucket.describe(small.name))!;
      await assert.rejects(
        bucket.compose({ name: "target", contentType: "" }, [part, part]),
        /compose .*target: another object has this name/,
      );
    });

    test("the set-up makes a bucket once; one that is missing is told with its name", async () => {
      const options = optionsFor(emulators().endpoint("storage"), "set-up-twice");
      await assert.rejects(
        openBucket(options),
        (error) =>
          error instanceof StoreError &&
          error.final &&
          /cannot open gs:\/\/set-up-twice: there is no such bucket/.test(error.message),
      );
      const setUp = { ...options, project: "test", location: "EU" };
      assert.deepEqual([await setUpStorage(setUp), await setUpStorage(setUp)], ["created", "present"]);
      await openBucket(options);
    });

    test("a listing goes on from page to page", async (t) => {
      const { bucket, proxy } = await behindProxy(t, {}, quickClock(), 4);
      const names = Array.from({ length: 11 }, (_, at) => `n/${String(at).padStart(4, "0")}`);
      await Promise.all(names.map((name) => bucket.create({ ...small, name })));
      assert.deepEqual(await namesIn(bucket, "n/"), names);
      assert.equal(proxy.counts()["objects.list"], 3);
    });
  });
});

test("a service that is not there is told with what to look at, and may be asked for again", async () => {
  const options = optionsFor("127.0.0.1:1", "nowhere", hastened(100));
  await assert.rejects(
    openBucket(options),
    (error) =>
      error instanceof StoreError && !error.final && /open gs:\/\/nowhere: the service is not reached/.test(error.message),
  );
});
