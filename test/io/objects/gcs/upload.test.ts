// Does a large upload that breaks off go on where it ended, and is it never made twice, be it a new object or one that is replaced?
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import { Storage } from "@google-cloud/storage";
import { createObject, replaceObject } from "../../../../io/objects/gcs/upload.ts";
import { quickClock, random } from "./given-bucket.ts";
import { type ChunkFault, startSessionServer } from "./session-server.ts";

const MIB = 1024 * 1024;
const CHUNK = 8 * MIB;
const bytes = Buffer.alloc(CHUNK * 2 + MIB, "0123456789ab");

const cases: { name: string; faults: Readonly<Record<number, ChunkFault>>; again: number; sessions: number }[] = [
  { name: "nothing", faults: {}, again: 0, sessions: 1 },
  { name: "a chunk that nobody heard", faults: { 2: "unheard" }, again: CHUNK, sessions: 1 },
  { name: "a chunk whose answer is lost", faults: { 2: "lost" }, again: CHUNK, sessions: 1 },
  { name: "the last chunk's answer is lost", faults: { 3: "lost" }, again: 0, sessions: 1 },
  { name: "a session that the service forgot", faults: { 2: "forgotten" }, again: CHUNK * 2, sessions: 2 },
];

describe("a resumable upload through", { concurrency: 5 }, () => {
  for (const { name, faults, again, sessions } of cases)
    test(name, async () => {
      const { server, uploading, stop } = await givenServer(faults);
      try {
        const create = () => createObject(uploading, { name: "a/large", bytes, contentType: "application/gzip" });
        assert.equal(await create(), "created");
        assert.ok(server.objects.get("a/large")?.equals(bytes));
        assert.equal(server.sessions(), sessions);
        assert.ok(server.received() <= bytes.length + again, `${server.received() - bytes.length} bytes came twice`);
        assert.equal(await create(), "created", "it is its own");
      } finally {
        await stop();
      }
    });

  for (const { name, faults, again, sessions } of cases)
    test(`${name}, over what stood there`, async () => {
      const { server, uploading, stop } = await givenServer(faults);
      try {
        server.objects.set("a/large", Buffer.from("before"));
        const md5 = createHash("md5").update(bytes).digest("base64");
        const open = () => Readable.from(pieces());
        const object = { name: "a/large", contentType: "application/gzip", bytes: bytes.length, md5, open };
        await replaceObject(uploading, object);
        assert.ok(server.objects.get("a/large")?.equals(bytes));
        assert.equal(server.sessions(), sessions);
        assert.ok(server.received() <= bytes.length + again, `${server.received() - bytes.length} bytes came twice`);
        await replaceObject(uploading, object);
        assert.equal(server.sessions(), sessions, "what stands is not sent again");
      } finally {
        await stop();
      }
    });
});

async function givenServer(faults: Readonly<Record<number, ChunkFault>>) {
  const server = await startSessionServer((chunk) => faults[chunk]);
  const options = { apiEndpoint: `http://${server.endpoint}`, projectId: "test" };
  const bucket = new Storage({ ...options, retryOptions: { autoRetry: false } }).bucket("bucket");
  const resuming = new Storage(options).bucket("bucket");
  const lookUp = async (object: string) => {
    const [{ size, md5Hash, generation }] = await bucket.file(object).getMetadata();
    return { name: object, generation: String(generation), bytes: Number(size), md5: md5Hash!, createdAt: 0 };
  };
  const lookOnce = (object: string) => lookUp(object).catch(() => undefined);
  const uploading = { bucket, resuming, lookUp, lookOnce, clock: quickClock(), random };
  return { server, uploading, stop: server.stop };
}

function* pieces() {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
}
