import assert from "node:assert/strict";
import { test } from "node:test";
import { fromWire } from "../../beam/coders.ts";
import { encode } from "../../schemas/codec.ts";
import { limits } from "../../schemas/limits.ts";
import { discoverMessage, hostQueueMessage, reparseMessage } from "../../schemas/messages.ts";
import {
  decodeDiscover,
  decodeHost,
  decodeReparse,
  readDiscover,
  readHost,
  readReparse,
} from "../../transforms/read-queues.ts";
import { bundle } from "./contexts.ts";
import { world } from "./world.ts";

const discovery = (url: string) => encode(discoverMessage, { source: "seed", depth: 0, hops: 0, kind: "page", urls: [url] });

test("messages of a queue become elements, and are acknowledged only when the bundle is committed", async () => {
  const { services } = world();
  await services.queues.discover.publish([discovery("http://a.test/"), discovery("http://b.test/")]);
  const context = bundle<typeof readDiscover.outputs>();
  await readDiscover.make({}, services).poll(context);
  assert.deepEqual(
    context.emitted.map(({ value }) => value.urls[0]),
    ["http://a.test/", "http://b.test/"],
  );
  assert.equal(await services.queues.discover.depth(), 2);
  await context.commit();
  assert.equal(await services.queues.discover.depth(), 0);
});

test("news of hosts are keyed by their pace key, sweeps go their own way", async () => {
  const { services } = world();
  const wake = { kind: "wake", paceKey: "a.test", at: 5 } as const;
  await services.queues.host.publish([
    encode(hostQueueMessage, { kind: "host", message: wake }),
    encode(hostQueueMessage, { kind: "sweep", shard: 3 }),
  ]);
  const context = bundle<typeof readHost.outputs>();
  await readHost.make({}, services).poll(context);
  assert.deepEqual(context.emitted, [
    { output: "messages", value: { key: "a.test", value: wake } },
    { output: "sweeps", value: { shard: 3 } },
  ]);
});

test("a message that is none is counted, said and set aside; the others go on", async () => {
  const given = world();
  const { services } = given;
  await services.queues.reparse.publish([
    Buffer.from("junk"),
    encode(reparseMessage, { paceKey: "a.test", urlId: "u", version: 1 }),
  ]);
  const context = bundle<typeof readReparse.outputs>();
  await readReparse.make({}, services).poll(context);
  await context.commit();
  assert.equal(context.emitted.length, 1);
  assert.equal(given.metrics.counter("gleaner_poison_messages_total", { queue: "reparse" }), 1);
  assert.equal(given.logged.length, 1);
  assert.equal(await services.queues.reparse.depth(), 0);
});

test("a full pull is followed by another at once, an empty one by a pause that an arrival cuts short", async () => {
  const { services } = world();
  const source = readDiscover.make({}, services);
  const many = Array.from({ length: limits.queuePull + 1 }, (_, index) => discovery(`http://a.test/${index}`));
  await services.queues.discover.publish(many);
  const waits: number[] = [];
  for (let poll = 0; poll < 3; poll++) waits.push(await source.poll(bundle<typeof readDiscover.outputs>()));
  assert.equal(waits[0], 0);
  assert.ok(waits[1]! > 0 && waits[2]! > 100);
  let woken = 0;
  const end = source.watch?.(() => woken++);
  await services.queues.discover.publish([discovery("http://a.test/")]);
  end?.();
  await services.queues.discover.publish([discovery("http://a.test/")]);
  assert.equal(woken, 1);
});

const decoders = [
  ["discover", decodeDiscover, readDiscover, [discovery("http://a.test/")]],
  [
    "host",
    decodeHost,
    readHost,
    [
      encode(hostQueueMessage, { kind: "host", message: { kind: "wake", paceKey: "a.test", at: 5 } }),
      encode(hostQueueMessage, { kind: "sweep", shard: 3 }),
    ],
  ],
  ["reparse", decodeReparse, readReparse, [encode(reparseMessage, { paceKey: "a.test", urlId: "u", version: 1 })]],
] as const;

for (const [queue, decoder, source, bodies] of decoders)
  test(`where the runner reads the queue '${queue}', its decoder gives what the source would, of bodies that have gone over the wire`, async () => {
    const { services } = world();
    await services.queues[queue].publish(bodies);
    const [read, decoded] = [bundle(), bundle()];
    await source.make({}, services).poll(read);
    const doFn = decoder.make({}, services);
    for (const body of bodies) await doFn.process(fromWire(decoder.input, body) as Uint8Array, decoded);
    assert.equal(decoded.emitted.length, bodies.length);
    assert.deepEqual(decoded.emitted, read.emitted);
    assert.equal(decoder.outputs, source.outputs);
  });

test("a decoder counts and tells what is no message, with its first bytes, and does not fail for it", async () => {
  const given = world();
  const doFn = decodeReparse.make({}, given.services);
  const context = bundle<typeof decodeReparse.outputs>();
  await doFn.process(Uint8Array.of(1, 255, 255), context);
  assert.deepEqual(context.emitted, []);
  assert.equal(given.metrics.counter("gleaner_poison_messages_total", { queue: "reparse" }), 1);
  assert.match(given.logged.join("\n"), /"bytes":3,"head":"Af\/\/"/);
});
