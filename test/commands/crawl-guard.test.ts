// Does a private address, however it is written and however a crawl is led to it, stay untouched without --allow-address?
import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { CrawlReport } from "../../pipelines/report.ts";
import { askedPaths, html, inFolder, links, onStage, reportOf, runCommand } from "../lib/crawl-command.ts";

/** Counts what connects, whatever it then says; answers as a web server would, so that nothing fails for another reason. */
interface Trap {
  port: number;
  touched: number;
  server: Server;
}

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\ncake";

const traps: Trap[] = [];
const CONTACT = ["--contact", "test@example.org", "--idle-horizon", "1"];

async function setTrap(host: string, port = 0): Promise<Trap> {
  const trap: Trap = { port: 0, touched: 0, server: createServer() };
  trap.server.on("connection", (socket) => {
    trap.touched++;
    socket.on("error", () => {});
    socket.once("data", () => socket.end(ANSWER));
  });
  await new Promise<void>((resolve, reject) => {
    trap.server.once("error", reject);
    trap.server.listen(port, host, resolve);
  });
  trap.port = (trap.server.address() as AddressInfo).port;
  return trap;
}

before(async () => {
  const four = await setTrap("127.0.0.1");
  traps.push(four);
  // Not everywhere is there an IPv6 loopback or a second IPv4 one, and the port may be taken: then nobody counts what leads there.
  for (const host of ["::1", "127.0.0.2"])
    await setTrap(host, four.port).then(
      (trap) => traps.push(trap),
      () => console.log(`no server on ${host}: only the crawler's own word is judged there`),
    );
});

after(() => {
  for (const { server } of traps) server.close();
});

const touched = (): number => traps.reduce((sum, trap) => sum + trap.touched, 0);
const port = (): number => traps[0]!.port;

const spellings = [
  "127.0.0.1",
  "localhost",
  "LOCALHOST.",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[64:ff9b::7f00:1]",
  "127.1",
  "0x7f000001",
  "2130706433",
  "017700000001",
  "0",
  "0.0.0.0",
  "[::]",
];

test("the server that counts is one that a crawl with --allow-address reaches", async () => {
  const from = touched();
  await inFolder(async (folder) => {
    const allowed = ["--allow-address", "127.0.0.0/8", "--idle-horizon", "1", "--delay-ms", "0"];
    const end = await runCommand(["--json", ...allowed, "--data", join(folder, "data"), `http://127.0.0.1:${port()}/`]);
    assert.equal(reportOf(end, 0).pages, 1);
  });
  assert.ok(touched() > from, "a trap that cannot be sprung shows nothing");
});

test("every spelling of a private address is refused as `address`, and nothing connects", async () => {
  const from = touched();
  await inFolder(async (folder) => {
    const seeds = spellings.map((host) => `http://${host}:${port()}/`);
    const report = reportOf(await runCommand(["--json", ...CONTACT, "--data", join(folder, "data"), ...seeds]), 4);
    assertRefused(report, new Set(seeds.map((seed) => new URL(seed).host.replace(/\.(?=:)/, ""))).size);
  });
  assert.equal(touched() - from, 0);
});

test("a URL as no URL may be is refused as usage, naming the seed", async () => {
  for (const seed of [
    `http://127.0.0.1.1:${port()}/`,
    `http://[::1:${port()}/`,
    `http://256.0.0.1:${port()}/`,
    "http://0x7f0000010/",
  ]) {
    await inFolder(async (folder) => {
      const { code, stderr } = await runCommand([...CONTACT, "--data", join(folder, "data"), seed]);
      assert.equal(code, 2, seed);
      assert.ok(stderr.includes(JSON.stringify(seed)), stderr);
    });
  }
});

for (const [host, target] of [
  ["a name", "named.example:80=127.0.0.1"],
  ["a name, to localhost,", "named.example:80=localhost"],
  ["a name, to an IPv6 address,", "named.example:80=[::1]"],
] as const)
  test(`--connect-to leads ${host} to a private address: refused`, async () => {
    const from = touched();
    await inFolder(async (folder) => {
      const args = ["--json", ...CONTACT, "--connect-to", `${target}:${port()}`, "--data", join(folder, "data")];
      assertRefused(reportOf(await runCommand([...args, "http://named.example/"]), 4), 1);
    });
    assert.equal(touched() - from, 0);
  });

/** Addresses that --allow-address 127.0.0.1/32 does not admit. */
const inwards = () => ["[::1]", "0.0.0.0", "127.0.0.2"].map((host) => `http://${host}:${port()}/inward`);

test("redirects and links from an allowed host to forbidden addresses are refused there", async () => {
  const from = touched();
  const sent = ({ path }: { path: string }) => {
    const number = /^\/to\/(\d)$/.exec(path)?.[1];
    if (path === "/")
      return { headers: html, body: links("/to/0", "/to/1", "/to/2", ...inwards().map((url) => `${url}-link`)) };
    return number === undefined ? { status: 404 } : { status: 302, headers: { location: inwards()[Number(number)]! } };
  };
  await onlyStage(sent, async (report) => {
    assert.equal(report.outcomes.fetched, 1);
    assert.equal(report.outcomes.redirect, 3);
    assert.equal(report.outcomes.address, 6);
  });
  assert.equal(touched() - from, 0);
});

test("robots.txt that redirects to a forbidden address is never asked for there, and its host is left alone", async () => {
  const from = touched();
  const sent = ({ path }: { path: string }) =>
    path === "/robots.txt" ? { status: 301, headers: { location: inwards()[0]! } } : { headers: html, body: "page" };
  await onlyStage(
    sent,
    async (report, asked) => {
      assert.equal(report.reasons.address, 1);
      assert.equal(report.robots.address, 1);
      assert.equal(report.pages, 0);
      assert.deepEqual(asked, []);
    },
    4,
  );
  assert.equal(touched() - from, 0);
});

/** A crawl of http://gate.test/ that is allowed to go to 127.0.0.1, where the web is, and nowhere else. */
async function onlyStage(
  handler: (ask: { path: string }) => { status?: number; headers?: Record<string, string>; body?: string },
  judge: (report: CrawlReport, asked: string[]) => Promise<void>,
  code = 0,
): Promise<void> {
  await onStage({ "gate.test": handler }, async ({ web, data }) => {
    const way = ["--connect-to", `gate.test:*=127.0.0.1:${web.port}`, "--allow-address", "127.0.0.1/32", "--scope", "any"];
    const limits = ["--max-pages", "50", "--delay-ms", "0", "--idle-horizon", "1", "--data", data];
    const end = await runCommand(["--json", ...CONTACT, ...way, ...limits, "http://gate.test/"]);
    await judge(reportOf(end, code), askedPaths(web.log, "gate.test"));
  });
}

/** Each of these hosts ended with the guard's reason and without an answer. */
function assertRefused(report: CrawlReport, hosts: number): void {
  assert.equal(report.pages, 0);
  assert.deepEqual(report.outcomes, { address: hosts });
  assert.ok((report.reasons.address ?? 0) >= hosts, JSON.stringify(report.reasons));
  assert.deepEqual(Object.keys(report.reasons), ["address"]);
}
