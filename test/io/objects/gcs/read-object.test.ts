// Is an object that is read piece by piece read once and to its end, though connections break, stall, or carry what was not asked for?
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openBucket } from "../../../../io/objects/gcs/bucket.ts";
import type { Clock } from "../../../../ports/clock.ts";
import { StoreError } from "../../../../ports/versioned-table.ts";
import { hastened, optionsFor, quickClock } from "./given-bucket.ts";
import { type AskedMedia, startMediaServer } from "./media-server.ts";

const bytes = Buffer.from(Array.from({ length: 150_000 }, (_, at) => `${at}\n`).join(""));
const PART = 300_000;
const WAIT_MS_MAX = 20_000; // for what a test waits to see closed

type Answer = (asked: AskedMedia) => void;

const whole: Answer = ({ response, whole }) => void response.writeHead(whole.status, whole.headers).end(whole.bytes);
const status =
  (code: number): Answer =>
  ({ response }) =>
    void response
      .writeHead(code, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { code, message: "no" } }));
/** A part comes, then what `end` does. */
const part =
  (end: Answer, length = PART): Answer =>
  (asked) => {
    asked.response.writeHead(asked.whole.status, asked.whole.headers);
    asked.response.write(asked.whole.bytes.subarray(0, length), () => end(asked));
  };
const reset: Answer = ({ response }) => void response.socket?.resetAndDestroy();
const cut: Answer = ({ response }) => void response.socket?.destroy();
const ended: Answer = ({ response }) => void response.end();
const nothing: Answer = () => {};

async function read(answers: readonly Answer[], clock: Clock = quickClock(), eachPiece = async () => {}) {
  const seen: { range: string | undefined; generation: string | undefined }[] = [];
  const server = await startMediaServer(bytes, (asked) => {
    seen.push({ range: asked.headers.range, generation: asked.generation });
    (answers[asked.count - 1] ?? answers.at(-1)!)(asked);
  });
  const pieces: Uint8Array[] = [];
  let error: unknown;
  try {
    const bucket = await openBucket(optionsFor(server.endpoint, "bucket", clock));
    for await (const piece of bucket.pieces("a/file")) {
      pieces.push(piece);
      await eachPiece();
    }
  } catch (caught) {
    error = caught;
  } finally {
    await server.stop();
  }
  return { came: Buffer.concat(pieces), seen, asked: server.asked(), error };
}

const goneOn: { name: string; answers: Answer[]; asked: number; clock?: Clock }[] = [
  { name: "nothing", answers: [whole], asked: 1 },
  { name: "refusals before the first byte", answers: [status(503), status(429), reset, whole], asked: 4 },
  { name: "two cuts", answers: [part(cut), part(cut), whole], asked: 3 },
  { name: "resets", answers: [part(reset), part(reset), whole], asked: 3 },
  { name: "a cut, then refusals", answers: [part(cut), status(503), status(500), whole], asked: 4 },
  { name: "an end that comes early", answers: [part(ended), whole], asked: 2 },
  { name: "a stall", answers: [part(nothing), whole], asked: 2, clock: quickClock({ limits: 20 }) },
  { name: "a cut behind the last byte", answers: [part(cut, bytes.length)], asked: 1 },
];

const failed: { name: string; answers: Answer[]; says: RegExp; final: boolean; asked?: number; clock?: Clock }[] = [
  { name: "there is no object", answers: [status(404)], says: /no such object/, final: true, asked: 1 },
  { name: "reading is not allowed", answers: [status(403)], says: /permission denied/, final: true, asked: 1 },
  {
    name: "its generation is gone when the reading is gone on with",
    answers: [part(cut), status(404)],
    says: /replaced or deleted meanwhile/,
    final: false,
    asked: 2,
  },
  {
    name: "all of it comes where the rest was asked for",
    answers: [part(cut), (asked) => whole({ ...asked, whole: { ...asked.whole, status: 200, bytes } })],
    says: /all bytes were sent/,
    final: false,
    clock: hastened(50),
  },
  {
    name: "bytes are not those of its checksum",
    answers: [({ response, whole }) => void response.writeHead(200, whole.headers).end(Buffer.alloc(whole.bytes.length))],
    says: /bytes were damaged on the way/,
    final: false,
    asked: 1,
  },
  {
    name: "it breaks after each kibibyte",
    answers: [part(cut, 1024)],
    says: /the reading broke 1[0-4]\d times/,
    final: false,
    clock: quickClock({ waits: 200 }),
  },
  {
    name: "no answer comes",
    answers: [nothing],
    says: /the service is not reached/,
    final: false,
    clock: hastened(100),
  },
  {
    name: "a break, where the answer named no generation",
    answers: [(asked) => part(cut)({ ...asked, whole: { ...asked.whole, headers: {} } })],
    says: /no generation was told/,
    final: false,
    clock: hastened(100),
  },
];

describe("an object is read", { concurrency: 8 }, () => {
  for (const { name, answers, asked, clock } of goneOn)
    test(`once and to its end through ${name}`, async () => {
      const done = await read(answers, clock);
      assert.equal(done.error, undefined);
      assert.ok(done.came.equals(bytes), `${done.came.length} of ${bytes.length} bytes`);
      assert.equal(done.asked, asked);
      for (const { range, generation } of done.seen) assert.equal(generation, range === undefined ? undefined : "7");
    });

  for (const { name, answers, says, final, asked, clock } of failed)
    test(`no further, and told so, where ${name}`, async () => {
      const { error, came, ...done } = await read(answers, clock);
      assert.ok(error instanceof StoreError);
      assert.match(error.message, says);
      assert.match(error.message, /gs:\/\/bucket\/a\/file/);
      assert.equal(error.final, final);
      if (asked !== undefined) assert.equal(done.asked, asked);
      if (!error.message.includes("damaged")) assert.ok(came.equals(bytes.subarray(0, came.length)), "not its beginning");
    });

  test("once, though an answer comes when nobody waits for it any more", { timeout: WAIT_MS_MAX }, async (t) => {
    const waiting: AskedMedia[] = [];
    const server = await startMediaServer(bytes, (asked) => void (asked.count === 1 ? waiting.push(asked) : whole(asked)));
    t.after(server.stop);
    const bucket = await openBucket(optionsFor(server.endpoint, "bucket", quickClock({ limits: 20 })));
    let came = 0;
    for await (const piece of bucket.pieces("a/file")) came += piece.length;
    assert.equal(came, bytes.length);
    const [{ response }] = waiting as [AskedMedia];
    const closed = once(response, "close");
    part(nothing)(waiting[0]!);
    await closed; // by us, who do not want the rest
  });

  test("as far as is wanted: its connection is closed then, and no other's", { timeout: WAIT_MS_MAX }, async (t) => {
    const waiting: AskedMedia[] = [];
    const server = await startMediaServer(Buffer.alloc(30 * bytes.length, bytes), (asked) => {
      waiting.push(asked);
      part(nothing)(asked);
    });
    t.after(server.stop);
    const bucket = await openBucket(optionsFor(server.endpoint, "bucket"));
    const kept = bucket.pieces("a/kept");
    let came = (await kept.next()).value.length;
    for await (const piece of bucket.pieces("a/left")) {
      assert.ok(piece.length > 0);
      break;
    }
    await once(waiting[1]!.response, "close");
    waiting[0]!.response.end(waiting[0]!.whole.bytes.subarray(PART));
    for await (const piece of kept) came += piece.length;
    assert.deepEqual([came, waiting.length], [30 * bytes.length, 2]);
  });

  test("by one who rests longer than a call may take, as by any other", async () => {
    let pieces = 0;
    const rests = async () => {
      if (pieces++ < 3) await pause(150);
    };
    const done = await read([whole], quickClock({ limits: 100 }), rests);
    assert.equal(done.error, undefined);
    assert.ok(done.came.equals(bytes));
    assert.equal(done.asked, 1);
  });
});
