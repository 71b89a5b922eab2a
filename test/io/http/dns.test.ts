import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemResolver } from "../../../io/http/dns.ts";
import { limits } from "../../../schemas/limits.ts";
import { handClock, realClock } from "./fixtures.ts";

type Zone = Record<string, { a?: string[]; aaaa?: number[][]; ttl?: number; silent?: boolean }>;

/** A DNS server (RFC 1035) for the names of a table; an absent name is NXDOMAIN. */
async function dnsServer(context: TestContext, zone: Zone) {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
    const type = query.readUInt16BE(at + 1);
    const name = labels.join(".");
    asked.push(`${name} ${type === 1 ? "A" : "AAAA"}`);
    const known = zone[name];
    if (known?.silent) return;
    const data = type === 1 ? (known?.a ?? []).map((address) => address.split(".").map(Number)) : (known?.aaaa ?? []);
    const answers = data.map((bytes) => {
      const fixed = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
      fixed.writeUInt32BE(known?.ttl ?? 60, 6);
      return Buffer.concat([fixed, Buffer.from(bytes)]);
    });
    const head = Buffer.from([query[0]!, query[1]!, 0x81, known ? 0x80 : 0x83, 0, 1, 0, answers.length, 0, 0, 0, 0]);
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...answers]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  context.after(() => socket.close());
  return { asked, servers: [`127.0.0.1:${socket.address().port}`] };
}

async function setUp(context: TestContext, zone: Zone, hosts = "") {
  const folder = await mkdtemp(join(tmpdir(), "hosts-"));
  const hostsPath = join(folder, "hosts");
  await writeFile(hostsPath, hosts);
  const { asked, servers } = await dnsServer(context, zone);
  const clock = handClock();
  // The hand clock stands, so that what waits for the second family is let go by hand too.
  const resolver = systemResolver({ clock, servers, hostsPath });
  context.after(async () => {
    resolver.close();
    await rm(folder, { recursive: true });
  });
  return { clock, resolver, asked, zone };
}

const google6 = [0x20, 1, 0x48, 0x60, 0x48, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x88];

test("a name's addresses of both families are found, IPv4 first", async (context) => {
  const { resolver } = await setUp(context, {
    "both.test": { a: ["192.0.2.1", "192.0.2.2"], aaaa: [google6] },
    "six.test": { aaaa: [google6] },
  });
  assert.deepEqual(await resolver.resolve("both.test"), {
    ok: true,
    addresses: ["192.0.2.1", "192.0.2.2", "2001:4860:4860::8888"],
  });
  assert.deepEqual(await resolver.resolve("six.test"), { ok: true, addresses: ["2001:4860:4860::8888"] });
});

test("an absent name is asked again after the failure's time, and recovers (F11)", async (context) => {
  const { resolver, clock, asked, zone } = await setUp(context, {});
  assert.deepEqual(await resolver.resolve("late.test"), { ok: false, detail: "late.test: no such name" });
  zone["late.test"] = { a: ["192.0.2.1"] };
  clock.advance(limits.dnsFailureTtlMs - 1);
  assert.equal((await resolver.resolve("late.test")).ok, false);
  assert.equal(asked.length, 2);
  clock.advance(1);
  assert.deepEqual(await resolver.resolve("late.test"), { ok: true, addresses: ["192.0.2.1"] });
});

test("an answer is kept for its TTL, within the bounds", async (context) => {
  const rows: [name: string, ttl: number, keptMs: number][] = [
    ["short.test", 7, 7000],
    ["zero.test", 0, 1000],
    ["long.test", 86_400, limits.dnsTtlMs],
  ];
  for (const [name, ttl, keptMs] of rows) {
    const { resolver, clock, zone } = await setUp(context, { [name]: { a: ["192.0.2.1"], ttl } });
    await resolver.resolve(name);
    zone[name] = { a: ["192.0.2.9"] };
    clock.advance(keptMs - 1);
    assert.deepEqual(await resolver.resolve(name.toUpperCase()), { ok: true, addresses: ["192.0.2.1"] });
    clock.advance(1);
    assert.deepEqual(await resolver.resolve(`${name}.`), { ok: true, addresses: ["192.0.2.9"] });
  }
});

test("many who ask for one name at once share one look-up", async (context) => {
  const { resolver, asked } = await setUp(context, { "one.test": { a: ["192.0.2.1"] } });
  const all = await Promise.all(Array.from({ length: 50 }, () => resolver.resolve("one.test")));
  assert.equal(all.filter(({ ok }) => ok).length, 50);
  assert.deepEqual(asked.sort(), ["one.test A", "one.test AAAA"]);
});

test("the unspecified address is no address (X6)", async (context) => {
  const { resolver } = await setUp(context, { "null.test": { a: ["0.0.0.0"] }, "half.test": { a: ["0.0.0.0", "192.0.2.1"] } });
  assert.deepEqual(await resolver.resolve("null.test"), {
    ok: false,
    detail: "null.test: answers only with the unspecified address",
  });
  assert.deepEqual(await resolver.resolve("half.test"), { ok: true, addresses: ["192.0.2.1"] });
});

test("the hosts file comes before DNS", async (context) => {
  const hosts = "# 192.0.2.1 commented.test\n192.0.2.7\tfile.test  Alias.test # why\n::1 file.test\nnonsense file.test\n";
  const { resolver, asked } = await setUp(context, { "file.test": { a: ["192.0.2.1"] } }, hosts);
  assert.deepEqual(await resolver.resolve("file.test"), { ok: true, addresses: ["192.0.2.7", "::1"] });
  assert.deepEqual(await resolver.resolve("alias.test"), { ok: true, addresses: ["192.0.2.7"] });
  assert.equal((await resolver.resolve("commented.test")).ok, false);
  assert.deepEqual([...new Set(asked)].sort(), ["commented.test A", "commented.test AAAA"]);
});

test("localhost names and addresses are answered without a look-up (RFC 6761 6.3), and no name is no name", async (context) => {
  const { resolver, asked } = await setUp(context, {}, "192.0.2.1 localhost www.localhost\n");
  for (const host of ["localhost", "www.LOCALHOST."]) {
    assert.deepEqual(await resolver.resolve(host), { ok: true, addresses: ["127.0.0.1", "::1"] });
  }
  for (const host of ["127.0.0.1", "::1", "0.0.0.0"])
    assert.deepEqual(await resolver.resolve(host), { ok: true, addresses: [host] });
  for (const host of ["", ".", `${"a.".repeat(200)}test`]) assert.equal((await resolver.resolve(host)).ok, false);
  assert.deepEqual(asked, []);
});

test("a silent server ends the look-up in limits.dnsMs, and a silent AAAA holds no A back", async (context) => {
  const { resolver, clock } = await setUp(context, { "mute.test": { silent: true } });
  const waiting = resolver.resolve("mute.test");
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(limits.dnsMs);
  assert.deepEqual(await waiting, { ok: false, detail: "mute.test: the look-up timed out" });

  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    if (query.readUInt16BE(query.indexOf(0, 12) + 1) !== 1) return;
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 5]);
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    socket.send(Buffer.concat([head, question, record]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const other = systemResolver({ clock: realClock, servers: [`127.0.0.1:${socket.address().port}`] });
  context.after(() => {
    other.close();
    socket.close();
  });
  assert.deepEqual(await other.resolve("half.example"), { ok: true, addresses: ["192.0.2.5"] });
});
