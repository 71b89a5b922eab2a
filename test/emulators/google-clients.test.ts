// What Google's own clients make of each fault, on real emulators behind the proxies: the facts that the adapters are built on.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Bigtable, type Row } from "@google-cloud/bigtable";
import { type Message, PubSub } from "@google-cloud/pubsub";
import { IdempotencyStrategy, Storage } from "@google-cloud/storage";
import type { Call } from "./calls.ts";
import { cloudTests } from "./cloud-tests.ts";
import { type GrpcFault, type GrpcFaultProxy, startGrpcFaultProxy } from "./grpc-fault-proxy.ts";
import { type HttpFault, type HttpFaultProxy, startHttpFaultProxy } from "./http-fault-proxy.ts";

/** Given to the clients so that they look for none. */
const NO_CREDENTIALS = { client_email: "nobody@localhost", private_key: "none" };

/** Of one method's first call since the last plan. */
let planned: { method: string; fault: GrpcFault } | { method: string; fault: HttpFault } | undefined;

await cloudTests({ bigtable: true, pubsub: true, storage: true }, (emulators) => {
  describe("Bigtable", () => {
    let proxy: GrpcFaultProxy;
    let client: Bigtable;
    before(async () => {
      proxy = await grpcProxy(emulators().endpoint("bigtable"));
      const clientOptions = { universeDomain: "googleapis.com" };
      client = new Bigtable({ projectId: "project", apiEndpoint: proxy.endpoint, metricsEnabled: false, clientOptions });
      await client.instance("i").createTable("table-a", { families: ["f"] });
    });
    after(async () => {
      await client.close();
      await proxy.stop();
    });
    const table = () => client.instance("i").table("table-a");

    test("a conditional write whose answer is lost is carried out, not repeated, and fails", async () => {
      plan(proxy, "CheckAndMutateRow", { kind: "lose-answer", code: 14 });
      await assert.rejects(createOnce("a"), { code: 14 });
      assert.equal((await table().row("a").get())[0].id, "a");
      assert.deepEqual(proxy.counts(), { CheckAndMutateRow: 1, ReadRows: 1 });
    });

    test("a doubled conditional write says that the row was there", async () => {
      plan(proxy, "CheckAndMutateRow", { kind: "double" });
      assert.equal(await createOnce("b"), true);
      assert.equal(await createOnce("c"), false);
    });

    test("a scan that is cut is repeated, and gives each row once", async () => {
      await table().insert(["x1", "x2", "x3"].map((key) => ({ key, data: { f: { q: "v" } } })));
      for (const messages of [0, 1]) {
        plan(proxy, "ReadRows", { kind: "lose-answer", code: 14, messages });
        const [rows] = await table().getRows({ prefix: "x" });
        assert.deepEqual(
          rows.map(({ id }: Row) => id),
          ["x1", "x2", "x3"],
        );
        assert.equal(proxy.counts().ReadRows, 2);
      }
    });

    /** Whether the row was there. */
    async function createOnce(key: string): Promise<boolean> {
      const write = { method: "insert" as const, data: { f: { q: "v" } } };
      const [matched] = await table()
        .row(key)
        .filter([{ all: true }], { onNoMatch: [{ ...write, key }] });
      return matched === true;
    }
  });

  describe("Pub/Sub", () => {
    let proxy: GrpcFaultProxy;
    let client: PubSub;
    before(async () => {
      proxy = await grpcProxy(emulators().endpoint("pubsub"));
      client = new PubSub({ projectId: "project", apiEndpoint: proxy.endpoint, credentials: NO_CREDENTIALS });
      await client.createTopic("topic-a");
      await client.topic("topic-a").createSubscription("sub-a");
    });
    after(async () => {
      await client.close();
      await proxy.stop();
    });

    test("a publish whose answer is lost is repeated, and its message comes twice, over a stream that is cut", async () => {
      plan(proxy, "Publish", { kind: "lose-answer", code: 14 });
      await client.topic("topic-a").publishMessage({ data: Buffer.from("a") });
      assert.equal(proxy.counts().Publish, 2);
      plan(proxy, "StreamingPull", { kind: "lose-answer", code: 14, messages: 1 });
      const ids = await received(2);
      assert.equal(new Set(ids).size, 2);
    });

    /** Ids of messages, each acknowledged. */
    async function received(count: number): Promise<string[]> {
      const subscription = client.subscription("sub-a");
      const ids: string[] = [];
      await new Promise<void>((resolve, reject) => {
        subscription.on("error", reject);
        subscription.on("message", (message: Message) => {
          ids.push(message.id);
          message.ack();
          if (ids.length === count) resolve();
        });
      });
      await subscription.close();
      return ids;
    }
  });

  describe("Cloud Storage", () => {
    let proxy: HttpFaultProxy;
    let client: Storage;
    before(async () => {
      proxy = await startHttpFaultProxy({
        target: emulators().endpoint("storage"),
        faults: (call) => (isPlanned(call) ? (planned?.fault as HttpFault) : undefined),
      });
      const retryOptions = { autoRetry: false, idempotencyStrategy: IdempotencyStrategy.RetryNever };
      client = new Storage({ projectId: "project", apiEndpoint: `http://${proxy.endpoint}`, retryOptions });
      await client.createBucket("bucket-a");
    });
    after(() => proxy.stop());

    const losses: [status: 503 | "reset", failure: object][] = [
      [503, { code: 503 }],
      ["reset", { message: /socket hang up|ECONNRESET/ }],
    ];
    for (const [status, failure] of losses)
      test(`a create-only write whose answer is lost (${status}) stands, and another is refused`, async () => {
        plan(proxy, "objects.insert", { kind: "lose-answer", status });
        await assert.rejects(createOnce(`lost-${status}`), failure);
        await assert.rejects(createOnce(`lost-${status}`), { code: 412 });
        assert.equal(proxy.counts()["objects.insert"], 2);
      });

    test("a doubled create-only write is told that the object exists", async () => {
      plan(proxy, "objects.insert", { kind: "double" });
      await assert.rejects(createOnce("doubled"), { code: 412 });
      assert.deepEqual(await client.bucket("bucket-a").file("doubled").exists(), [true]);
    });

    test("an upload in pieces goes through the proxy as a whole, and a download that breaks off fails", async () => {
      plan(proxy, "objects.get.media", { kind: "lose-answer", status: "reset", bytes: 10 });
      const file = client.bucket("bucket-a").file("pieces");
      const body = Buffer.alloc(600_000, "x");
      await file.save(body, { resumable: true, chunkSize: 262_144 });
      const { "objects.insert.begin": begun, "objects.insert.chunk": chunks } = proxy.counts();
      assert.deepEqual([begun, chunks], [1, 3]);
      await assert.rejects(file.download());
      assert.ok((await file.download())[0].equals(body));
    });

    function createOnce(name: string): Promise<void> {
      return client
        .bucket("bucket-a")
        .file(name)
        .save("body", { resumable: false, preconditionOpts: { ifGenerationMatch: 0 } });
    }
  });
});

function grpcProxy(target: string): Promise<GrpcFaultProxy> {
  return startGrpcFaultProxy({ target, faults: (call) => (isPlanned(call) ? (planned?.fault as GrpcFault) : undefined) });
}

function isPlanned({ method, count }: Call): boolean {
  return method === planned?.method && count === 1;
}

function plan(proxy: { reset: () => void }, method: string, fault: GrpcFault | HttpFault): void {
  planned = { method, fault } as typeof planned;
  proxy.reset();
}
