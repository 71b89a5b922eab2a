import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Bigtable } from "@google-cloud/bigtable";
import type { BigtableOptions } from "../../../io/stores/bigtable/calls.ts";
import { bigtableClient } from "../../../io/stores/bigtable/client.ts";
import { bigtableTrouble, status, wasRefused } from "../../../io/stores/bigtable/faults.ts";
import { bigtableMeta, FORMAT } from "../../../io/stores/bigtable/meta.ts";
import { setUpBigtable } from "../../../io/stores/bigtable/set-up.ts";
import { openBigtableStore } from "../../../io/stores/bigtable/store.ts";
import { bigtableTable } from "../../../io/stores/bigtable/table.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";
import { type Fate, failure, faultyClient } from "./bigtable-faulty-client.ts";

const TABLES = ["urls", "host_due"];
const value = new Uint8Array(0);

await cloudTests({ bigtable: true }, (emulators) => {
  let client: Bigtable;
  before(() => {
    client = bigtableClient({ project: "p", emulator: emulators().endpoint("bigtable") });
  });
  after(() => client.close());
  const under = (tablePrefix: string): BigtableOptions & { tables: string[] } => ({
    client,
    instance: "i",
    tablePrefix,
    tables: TABLES,
    patience: { pauseMs: 1, tries: 3 },
  });

  test("set-up makes each table with its family and rule, and again changes nothing", async () => {
    const made = { "twice-urls": "made", "twice-host_due": "made", "twice-meta": "made" };
    assert.deepEqual(await setUpBigtable(under("twice")), made);
    const store = await openBigtableStore(under("twice"));
    await store.table("urls").insertIfAbsent([{ key: "a", rev: "1", value }]);
    await store.meta.set("seeds", "[]");
    const stood = Object.fromEntries(Object.keys(made).map((name) => [name, "stood"]));
    assert.deepEqual(await setUpBigtable(under("twice")), stood);
    const [[metadata]] = [await client.instance("i").table("twice-urls").getMetadata({ view: "schema" })];
    assert.deepEqual(Object.keys(metadata.columnFamilies), ["r"]);
    assert.equal(metadata.columnFamilies.r?.gcRule?.maxNumVersions, 1);
    assert.equal((await store.table("urls").get(["a"]))[0]?.rev, "1");
    assert.equal(await store.meta.get("seeds"), "[]");
  });

  test("three set-ups at once make each table once, and all open", async () => {
    const done = await Promise.all([1, 2, 3].map(() => setUpBigtable(under("race"))));
    for (const name of Object.keys(done[0]!)) assert.equal(done.filter((one) => one[name] === "made").length, 1, name);
    assert.equal(await (await openBigtableStore(under("race"))).meta.get("none"), undefined);
  });

  test("a table without our family, or with another rule, is made right", async () => {
    const instance = client.instance("i");
    await instance.createTable("mend-urls", { families: [{ name: "other" }] });
    await instance.createTable("mend-host_due", { families: [{ name: "r", rule: { versions: 7 } }] });
    assert.deepEqual(await setUpBigtable(under("mend")), {
      "mend-urls": "changed",
      "mend-host_due": "changed",
      "mend-meta": "made",
    });
    const { table } = await openBigtableStore(under("mend"));
    for (const name of TABLES) assert.deepEqual(await table(name).insertIfAbsent([{ key: "a", rev: "1", value }]), [true]);
  });

  test("a set-up whose calls are refused or their answers lost goes on", async () => {
    const fates: Fate[] = [
      { kind: "refused", code: status.unavailable },
      { kind: "lost", code: status.deadlineExceeded },
    ];
    const { client: faulty } = faultyClient(client, (_, at) => fates[at]);
    await setUpBigtable({ ...under("lost"), client: faulty });
    assert.equal(await (await openBigtableStore(under("lost"))).meta.raise("epoch"), 1);
  });

  test("tables of another version are neither opened nor set up, and the line names both", async () => {
    await setUpBigtable(under("other"));
    const meta = bigtableTable({ ...under("other"), table: "meta" });
    const [found] = await meta.get(["format"]);
    await meta.compareAndSet({ key: "format", rev: "x", value: Buffer.from("0.9") }, found!.rev);
    for (const run of [() => openBigtableStore(under("other")), () => setUpBigtable(under("other"))])
      await rejectsFinally(run, new RegExp(`other-meta .*another version .*"0\\.9".*"${FORMAT}"`));
  });

  test("tables that were not set up are not opened: the line says so", async () => {
    await rejectsFinally(() => openBigtableStore(under("nowhere")), /nowhere-meta of .* does not exist: .*npm run set-up/);
    await client.instance("i").createTable("half-meta", { families: [{ name: "r" }] });
    await rejectsFinally(() => openBigtableStore(under("half")), /half-meta of .* not set up/);
  });

  test("a cell that is not ours is told by its row, and not taken for a record", async () => {
    await setUpBigtable(under("foreign"));
    const table = client.instance("i").table("foreign-urls");
    await table.row("a/b").save({ r: { "": { value: Buffer.from([200, 1]), timestamp: 0 } } });
    const { table: opened } = await openBigtableStore(under("foreign"));
    await rejectsFinally(() => opened("urls").get(["a/b"]), /row "a\/b" of table foreign-urls .*not written by this program/);
  });

  test("a table that the store was not opened with is our own mistake", async () => {
    await setUpBigtable(under("names"));
    const store = await openBigtableStore(under("names"));
    assert.throws(() => store.table("hosts"), /'hosts' is none of urls, host_due/);
    for (const tablePrefix of ["ä", "a/b", "x".repeat(60)])
      await rejectsFinally(() => setUpBigtable(under(tablePrefix)), /not a name for a table/);
  });

  test("meta: the text last set comes back, also long ones; the version is not to be set", async () => {
    await setUpBigtable(under("meta"));
    const { meta } = await openBigtableStore(under("meta"));
    assert.equal(await meta.get("seeds"), undefined);
    for (const text of ["[]", "", "ä".repeat(500_000)]) {
      await meta.set("seeds", text);
      assert.equal(await meta.get("seeds"), text);
    }
    await assert.rejects(meta.set("format", "2"), StoreError);
    await meta.set("epoch", "many");
    await rejectsFinally(() => meta.raise("epoch"), /'epoch' is not a number but "many"/);
  });

  test("an epoch that is raised by many at once, some of whose answers are lost, is given to none twice", async () => {
    await setUpBigtable(under("epoch"));
    const losing = faultyClient(client, (method, at) =>
      method === "checkAndMutateRow" && at % 3 === 0 ? { kind: "lost", code: status.unavailable } : undefined,
    );
    const table = bigtableTable({ ...under("epoch"), client: losing.client, table: "meta" });
    const given = await Promise.all([1, 2, 3, 4].map(() => bigtableMeta(table).raise("epoch")));
    given.push(await bigtableMeta(table).raise("epoch"));
    assert.equal(new Set(given).size, given.length);
    assert.ok(Math.max(...given) === given.at(-1), String(given));
  });
});

const lines: [error: unknown, final: boolean, line: RegExp][] = [
  [
    failure(status.notFound, 'NOT_FOUND: table "projects/p/instances/i/tables/t" not found'),
    true,
    /table t .*does not exist: check/,
  ],
  [
    failure(status.notFound, "NOT_FOUND: Instance projects/p/instances/i not found."),
    true,
    /project p has no Bigtable instance i/,
  ],
  [failure(status.permissionDenied), true, /may not be used by this account: grant it roles\/bigtable\.user/],
  [
    failure(status.permissionDenied, "PERMISSION_DENIED: API has not been used in project p before"),
    true,
    /not enabled in project p/,
  ],
  [failure(status.unauthenticated), true, /credentials for .*project p are not accepted/],
  [failure(status.failedPrecondition, "the application profile does not allow it"), true, /single-cluster routing/],
  [failure(status.unimplemented), true, /check its endpoint/],
  [failure(status.resourceExhausted), false, /over a quota/],
  [failure(status.deadlineExceeded), false, /did not answer in time/],
  [failure(status.unavailable), false, /cannot be reached/],
  [failure(status.internal), false, /failed at a request \(13 as/],
  [new Error("Could not load the default credentials. Browse to"), true, /no credentials for .* p: run `gcloud auth/],
  [new Error("Unable to detect a Project Id in the current environment."), true, /no project is known .* --project/],
  [failure(status.aborted, "x").message, false, /failed at a request/],
  [Object.assign(new Error("The client has already been closed."), { code: status.aborted }), true, /is closed/],
  ["The client has already been closed.", true, /is closed/],
  [undefined, false, /failed at a request/],
  [{ code: "ECONNRESET" }, false, /failed at a request/],
];
for (const [error, final, line] of lines) {
  test(`${error instanceof Error ? error.message : JSON.stringify(error)} is told as ${line}`, () => {
    const told = bigtableTrouble(error, { project: "p", instance: "i", table: "t" });
    assert.match(told.message, line);
    assert.equal(told.final, final);
    assert.ok(!told.message.includes("\n"));
    assert.equal(bigtableTrouble(told, { project: "", instance: "", table: "" }), told);
  });
}

test("a text that quotes a key of a stranger makes no lost answer a refused one", () => {
  for (const said of ["Could not load the default credentials", "Instance not found", "multi-cluster"])
    assert.equal(wasRefused(failure(status.internal, `${said}: row http://a.test/${said}`)), false);
});

test("nobody at the endpoint: the line says so, and reading ends after its tries", async () => {
  const client = bigtableClient({ project: "p", emulator: "127.0.0.1:9" });
  const options = { client, instance: "i", tablePrefix: "x", tables: TABLES, patience: { pauseMs: 1, tries: 2 } };
  await assert.rejects(openBigtableStore(options), (error) => {
    assert.ok(error instanceof StoreError && !error.final);
    assert.match(error.message, /x-meta of Bigtable instance i in project p cannot be reached/);
    return true;
  });
  await client.close();
});

test("no credentials: the line says how to get some", async () => {
  const kept = { ...process.env };
  Object.assign(process.env, { METADATA_SERVER_DETECTION: "none", CLOUDSDK_CONFIG: "/nowhere", HOME: "/nowhere" });
  delete process.env.GOOGLE_APPLICATION_CREDENTIALS;
  delete process.env.BIGTABLE_EMULATOR_HOST;
  const client = bigtableClient({ project: "p" });
  try {
    await rejectsFinally(
      () => openBigtableStore({ client, instance: "i", tablePrefix: "x", tables: TABLES }),
      /no credentials for Google Cloud project p: run `gcloud auth application-default login`/,
    );
  } finally {
    process.env = kept;
  }
});

test("a client that was closed, before or after its first call, is told as closed", async () => {
  const client = bigtableClient({ project: "p", emulator: "127.0.0.1:9" });
  await client.close();
  await rejectsFinally(
    () => openBigtableStore({ client, instance: "i", tablePrefix: "x", tables: TABLES }),
    /x-meta .* is closed/,
  );
});

async function rejectsFinally(run: () => Promise<unknown>, line: RegExp): Promise<void> {
  await assert.rejects(run, (error) => {
    assert.ok(error instanceof StoreError && error.final, String(error));
    assert.match(error.message, line);
    return true;
  });
}
