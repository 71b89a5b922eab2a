// What is special about a day's files in a bucket? Uploads that fail or come late, files larger than memory should hold, and others who write.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openBucket } from "../../../../io/objects/gcs/bucket.ts";
import { gcsDayFiles } from "../../../../io/objects/gcs/day-files.ts";
import { StoreError } from "../../../../ports/versioned-table.ts";
import { cloudTests } from "../../../emulators/cloud-tests.ts";
import { type HttpFault, startHttpFaultProxy } from "../../../emulators/http-fault-proxy.ts";
import { allLines } from "../day-files-contract.ts";
import { hastened, newBucket, optionsFor, quickClock } from "./given-bucket.ts";
import { startSessionServer } from "./session-server.ts";

const MIB = 1024 * 1024;
const NAME = "dt=2026-11-30/part-00.ndjson";

const LARGE_BYTES = 40 * MIB; // five chunks, of which two or so are held

function lineAt(at: number): string {
  return String(at).padStart(99, "line ");
}

function* linesOf(bytes: number): Generator<string> {
  for (let at = 0; at * 100 < bytes; at++) yield lineAt(at);
}

/** The most that this process holds while it is looked at, beyond what it held before; MiB. */
function watchedMemory() {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const held = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return (heapUsed + arrayBuffers) / MIB;
  };
  const before = held();
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, held() - before);
  }, 100);
  return { most: () => most, stop: () => clearInterval(looking) };
}

const survived: { name: string; plan: Readonly<Record<string, readonly HttpFault[]>>; inserts: number }[] = [
  { name: "nothing", plan: {}, inserts: 1 },
  { name: "503 twice", plan: { "objects.insert": Array(2).fill({ kind: "refuse", status: 503 }) }, inserts: 3 },
  { name: "a reset", plan: { "objects.insert": [{ kind: "refuse", status: "reset" }] }, inserts: 2 },
  { name: "a lost answer", plan: { "objects.insert": [{ kind: "lose-answer", status: "reset" }] }, inserts: 1 },
  { name: "an answer lost as 503", plan: { "objects.insert": [{ kind: "lose-answer", status: 503 }] }, inserts: 1 },
  { name: "a doubled call", plan: { "objects.insert": [{ kind: "double" }] }, inserts: 1 },
  { name: "a look that fails", plan: { "objects.get": [{ kind: "refuse", status: 503 }] }, inserts: 1 },
];

await cloudTests({ storage: true }, (emulators) => {
  async function behindProxy(t: TestContext, faults: Readonly<Record<string, readonly HttpFault[]>>, clock = quickClock()) {
    const direct = await newBucket(emulators().endpoint("storage"), clock);
    const proxy = await startHttpFaultProxy({
      target: emulators().endpoint("storage"),
      faults: ({ method, count }) => faults[method]?.[count - 1],
    });
    t.after(() => proxy.stop());
    const files = gcsDayFiles({ bucket: await openBucket(optionsFor(proxy.endpoint, direct.name, clock)) });
    return { files, direct, proxy };
  }

  describe("a day's files in a bucket", { concurrency: 4 }, () => {
    for (const { name, plan, inserts } of survived)
      test(`a file replaces the one that stood there, through: ${name}`, async (t) => {
        const { files, direct, proxy } = await behindProxy(t, plan);
        await gcsDayFiles({ bucket: direct }).writeLines(NAME, ["before", "and more"]);
        const written = await files.writeLines(NAME, ["after"]);
        assert.equal(proxy.counts()["objects.insert"], inserts);
        assert.deepEqual(await files.measure(NAME), written);
        assert.deepEqual(await allLines(files, NAME), ["after"]);
      });

    test("what is written again as it stands is left as it is", async (t) => {
      const { files, direct, proxy } = await behindProxy(t, {});
      const first = await files.writeLines(NAME, ["same"]);
      const standing = await direct.describe(NAME);
      assert.deepEqual(await files.writeLines(NAME, ["same"]), first);
      assert.deepEqual(await direct.describe(NAME), standing);
      assert.equal(proxy.counts()["objects.insert"], 1);
    });

    test("a try that was given up, and arrives late, does not undo what was written since", async (t) => {
      const landed = Promise.withResolvers<void>();
      const direct = await newBucket(emulators().endpoint("storage"));
      const proxy = await startHttpFaultProxy({
        target: emulators().endpoint("storage"),
        faults: ({ method, count }) => (method === "objects.insert" && count === 1 ? { kind: "slow", ms: 2_000 } : undefined),
      });
      t.after(() => proxy.stop());
      const bucket = await openBucket(optionsFor(proxy.endpoint, direct.name, quickClock({ limits: 20 })));
      const files = gcsDayFiles({ bucket });
      setTimeout(landed.resolve, 2_300);
      await files.writeLines(NAME, ["first"]);
      await files.writeLines(NAME, ["second"]);
      await landed.promise;
      assert.deepEqual(await allLines(files, NAME), ["second"]);
    });

    test("where nothing may be written it is told at once, with what to do", async (t) => {
      const { files, proxy } = await behindProxy(t, { "objects.insert": Array(9).fill({ kind: "refuse", status: 403 }) });
      await assert.rejects(
        files.writeLines(NAME, ["one"]),
        (error) =>
          error instanceof StoreError &&
          error.final &&
          /cannot write gs:\/\/bucket-[\d-]+\/dt=2026-11-30\/part-00\.ndjson: permission denied: grant/.test(error.message),
      );
      assert.equal(proxy.counts()["objects.insert"], 1);
    });

    test("what does not heal in its time is refused, and may be asked for again", async (t) => {
      const refused = Array(99).fill({ kind: "refuse", status: 503 });
      const { files } = await behindProxy(t, { "objects.insert": refused }, hastened(20));
      await assert.rejects(
        files.writeLines(NAME, ["one"]),
        (error) => error instanceof StoreError && !error.final && /cannot write gs:.*at the moment/.test(error.message),
      );
      assert.equal(await files.measure(NAME), undefined);
    });

    test("a file that is replaced while it is read is not mixed with the new one", async (t) => {
      const { files, direct } = await behindProxy(t, {
        "objects.get.media": [{ kind: "lose-answer", status: "reset", bytes: MIB }],
      });
      const before = gcsDayFiles({ bucket: direct });
      await before.writeLines(NAME, linesOf(3 * MIB));
      const seen: string[] = [];
      const reading = async () => {
        for await (const lines of files.lines(NAME)) {
          if (seen.length === 0) await before.writeLines(NAME, ["another"]);
          seen.push(...lines);
        }
      };
      await assert.rejects(
        reading(),
        (error) => error instanceof StoreError && !error.final && /read it anew/.test(error.message),
      );
      assert.ok(seen.length > 0);
      const expected = linesOf(MIB);
      for (const line of seen) assert.equal(line, expected.next().value);
      assert.deepEqual(await allLines(files, NAME), ["another"]);
    });

    test("packed bytes come back as bytes: an object has its type, and no encoding", async () => {
      const endpoint = emulators().endpoint("storage");
      const bucket = await newBucket(endpoint);
      const files = gcsDayFiles({ bucket });
      for (const [name, type] of [
        ["a.ndjson.gz", "application/gzip"],
        ["a.ndjson", "text/plain; charset=utf-8"],
      ] as const) {
        await files.writeLines(name, ["one"]);
        const answer = await fetch(`http://${endpoint}/storage/v1/b/${bucket.name}/o/${name}`);
        const { contentType, contentEncoding } = (await answer.json()) as Record<string, string>;
        assert.deepEqual([contentType, contentEncoding ?? ""], [type, ""]);
      }
    });

    test("what a console shows as a folder is no file", async () => {
      const bucket = await newBucket(emulators().endpoint("storage"));
      await bucket.create({ name: "day/", bytes: new Uint8Array(), contentType: "text/plain" });
      assert.deepEqual(await gcsDayFiles({ bucket }).list("day"), []);
    });
  });

  describe("a day's large files", () => {
    test("are written and read in bounded memory, and leave no temporary file", async (t) => {
      const temporary = await mkdtemp(join(tmpdir(), "gleaner-test-"));
      const usual = process.env.TMPDIR;
      process.env.TMPDIR = temporary;
      t.after(async () => {
        if (usual === undefined) delete process.env.TMPDIR;
        else process.env.TMPDIR = usual;
        await rm(temporary, { recursive: true });
      });
      const files = gcsDayFiles({ bucket: await newBucket(emulators().endpoint("storage")) });
      const memory = watchedMemory();
      t.after(memory.stop);

      const written = await files.writeLines(NAME, linesOf(LARGE_BYTES));
      assert.ok(written.bytes >= LARGE_BYTES);
      assert.deepEqual(await files.measure(NAME), written);
      let rows = 0;
      for await (const lines of files.lines(NAME)) {
        if (rows === 0) await pause(300); // what comes meanwhile waits on its way, not here
        for (const line of lines) if (line !== lineAt(rows++)) assert.fail(`line ${rows} is ${line}`);
      }
      assert.equal(rows, written.rows);
      assert.ok(memory.most() < LARGE_BYTES / MIB / 1.5, `${memory.most()} MiB`);
      assert.deepEqual(await readdir(temporary), []);
    });
  });
});

test("a large upload whose session is lost is made again whole, from the same lines", async () => {
  const server = await startSessionServer((chunk) => (chunk === 2 ? "forgotten" : undefined));
  try {
    const bucket = await openBucket(optionsFor(server.endpoint, "bucket"));
    let asked = 0;
    function* once() {
      asked++;
      yield* linesOf(20 * MIB);
    }
    const written = await gcsDayFiles({ bucket }).writeLines(NAME, once());
    assert.equal(server.sessions(), 2);
    assert.equal(asked, 1);
    assert.equal(server.objects.get(NAME)?.length, written.bytes);
    assert.equal(server.objects.get(NAME)?.toString(), [...linesOf(20 * MIB), ""].join("\n"));
  } finally {
    await server.stop();
  }
});
