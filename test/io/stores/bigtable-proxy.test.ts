import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Bigtable } from "@google-cloud/bigtable";
import { bigtableClient } from "../../../io/stores/bigtable/client.ts";
import { status } from "../../../io/stores/bigtable/faults.ts";
import { setUpBigtable } from "../../../io/stores/bigtable/set-up.ts";
import { bigtableTable } from "../../../io/stores/bigtable/table.ts";
import { type Row, StoreError, type VersionedTable } from "../../../ports/versioned-table.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { type GrpcFault, type GrpcFaultProxy, startGrpcFaultProxy } from "../../emulators/grpc-fault-proxy.ts";

const PATIENCE = { callMs: 400, operationMs: 5_000, pauseMs: 1, tries: 4 };
const refuse = (code: number): GrpcFault => ({ kind: "refuse", code });

await cloudTests({ bigtable: true }, (emulators) => {
  let client: Bigtable;
  let proxy: GrpcFaultProxy;
  let table: VersionedTable;
  let faults: (method: string, count: number) => GrpcFault | undefined = () => undefined;
  const given = { instance: "i", tablePrefix: "proxy", table: "t" };
  before(async () => {
    proxy = await startGrpcFaultProxy({
      target: emulators().endpoint("bigtable"),
      faults: ({ method, count }) => faults(method, count),
    });
    client = bigtableClient({ project: "p", emulator: proxy.endpoint });
    await setUpBigtable({ ...given, client, tables: [given.table] });
    table = bigtableTable({ ...given, client, patience: PATIENCE });
  });
  beforeEach(() => {
    faults = () => undefined;
    proxy.reset();
  });
  after(async () => {
    await client.close();
    await proxy.stop();
  });

  for (const name of ["unavailable", "deadlineExceeded", "internal", "aborted", "cancelled", "resourceExhausted"] as const) {
    test(`the client repeats no call by itself that ended with ${name}: the server sees as many as we send`, async () => {
      faults = () => refuse(status[name]);
      await assert.rejects(table.get(["a"]), StoreError);
      assert.deepEqual(proxy.counts(), { ReadRows: PATIENCE.tries });
      proxy.reset();
      await assert.rejects(table.insertIfAbsent([row("a", "1")]), StoreError);
      assert.deepEqual(proxy.counts(), { CheckAndMutateRow: 1, ReadRows: PATIENCE.tries });
    });
  }

  test("a write whose answer is lost on the wire is read for, and not sent again", async () => {
    faults = (method) => (method === "CheckAndMutateRow" ? { kind: "lose-answer", code: status.unavailable } : undefined);
    assert.deepEqual(await table.insertIfAbsent([row("lost", "1")]), [true]);
    assert.equal(await table.compareAndSet(row("lost", "2"), "1"), true);
    assert.deepEqual(proxy.counts(), { CheckAndMutateRow: 2, ReadRows: 2 });
    assert.deepEqual(await table.get(["lost"]), [row("lost", "2")]);
  });

  test("a write that outlasts its time is given up, read for, and sent again; coming late it changes nothing", async () => {
    faults = (method, count) => (method === "CheckAndMutateRow" && count === 2 ? { kind: "slow", ms: 700 } : undefined);
    await table.insertIfAbsent([row("slow", "1")]);
    assert.equal(await table.compareAndSet(row("slow", "2"), "1"), true);
    assert.deepEqual(proxy.counts(), { CheckAndMutateRow: 3, ReadRows: 1 });
    assert.equal(await table.compareAndSet(row("slow", "3"), "2"), true);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.deepEqual(await table.get(["slow"]), [row("slow", "3")]);
  });

  // Last, since nothing is left after it.
  test("an emulator that was started again has lost all: that ends the crawl, by a line that says which table is missing", async () => {
    await emulators().restart("bigtable");
    let told: unknown;
    // The way there is found again first.
    for (let tries = 0; tries < 100 && !(told instanceof StoreError && told.final); tries++) {
      told = await table.get(["a"]).catch((error) => error);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.ok(told instanceof StoreError && told.final, String(told));
    assert.match(told.message, /table proxy-t of Bigtable instance i in project p does not exist/);
    await assert.rejects(table.insertIfAbsent([row("a", "1")]), (error) => error instanceof StoreError && error.final);
  });
});

function row(key: string, rev: string): Row {
  return { key, rev, value: Uint8Array.of(1, 2, 3) };
}
