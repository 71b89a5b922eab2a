import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { unanswered } from "./answers.ts";
import { cloudTests } from "./cloud-tests.ts";
import { EMULATOR_NAMES, type Machine } from "./locate.ts";
import { freePort, isFree } from "./ports.ts";
import { startEmulators } from "./start.ts";

test("without an emulator the error names it", async () => {
  const machine = { path: [], sdkRoots: [], cache: "/nowhere" };
  await assert.rejects(startEmulators({ bigtable: true }, { machine }), /no emulator of bigtable: no Cloud SDK, and no Go/);
});

test("an emulator that ends instead of answering is told with what it printed", async (context) => {
  const machine = machineWith(context, "echo cannot listen >&2; exit 3");
  await assert.rejects(
    startEmulators({ bigtable: true }, { machine }),
    /emulator of bigtable.*cbtemulator, ended \(3\)\. It printed:\ncannot listen$/,
  );
});

test("a port in use is an error that names it, and nothing is started", async (context) => {
  const port = await freePort();
  const taken = createServer().listen(port, "127.0.0.1");
  context.after(() => taken.close());
  const machine = machineWith(context, "sleep 60");
  const started = startEmulators({ bigtable: true }, { machine, ports: { bigtable: port } });
  await assert.rejects(started, new RegExp(`port ${port} .*bigtable, is in use`));
});

test("nothing is started for nothing wanted", async () => {
  const none = await startEmulators({});
  assert.deepEqual([none.names, none.env], [[], {}]);
  await none.stop();
});

await cloudTests({ pubsub: true, bigtable: true, storage: true }, (emulators) => {
  test("each answers at its endpoint, which is the environment's", async () => {
    const { endpoint, env } = emulators();
    for (const name of EMULATOR_NAMES) assert.equal(await unanswered(name, endpoint(name)), undefined);
    assert.deepEqual(env, {
      PUBSUB_EMULATOR_HOST: endpoint("pubsub"),
      BIGTABLE_EMULATOR_HOST: endpoint("bigtable"),
      STORAGE_EMULATOR_HOST: `http://${endpoint("storage")}`,
    });
  });

  test("one that is killed answers no more while the others do, and does again once restarted", async () => {
    const { kill, restart, endpoint, alive } = emulators();
    for (const name of ["bigtable", "storage"] as const) {
      const before = endpoint(name);
      await kill(name);
      assert.ok(!alive(name));
      assert.notEqual(await unanswered(name, before), undefined);
      assert.equal(await unanswered("pubsub", endpoint("pubsub")), undefined);
      await restart(name);
      assert.ok(alive(name));
      assert.equal(endpoint(name), before);
      assert.equal(await unanswered(name, before), undefined);
    }
  });

  test("a second set takes other ports, and stopping it twice leaves the first", async () => {
    const first = emulators();
    const second = await startEmulators({ bigtable: true });
    const port = Number(second.endpoint("bigtable").split(":")[1]);
    assert.notEqual(second.endpoint("bigtable"), first.endpoint("bigtable"));
    assert.throws(() => second.endpoint("pubsub"), /pubsub was not wanted/);
    await second.stop();
    await second.stop();
    assert.ok(await isFree(port));
    assert.equal(await unanswered("bigtable", first.endpoint("bigtable")), undefined);
  });
});

/** With a Cloud SDK whose emulator of Bigtable is a shell script. */
function machineWith(context: TestContext, script: string): Machine {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-start-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, "platform/bigtable-emulator/cbtemulator");
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { path: [], sdkRoots: [folder], cache: join(folder, "cache") };
}
