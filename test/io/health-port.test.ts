import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { type Health, openHealthPort } from "../../io/health-port.ts";

async function opened(context: TestContext, health: () => Health | Promise<Health>) {
  const port = await openHealthPort({ port: 0, host: "127.0.0.1", health });
  context.after(() => port.close());
  return port;
}

const ask = (port: number, path = "/healthz", method = "GET") => fetch(`http://127.0.0.1:${port}${path}`, { method });

const cases: [what: string, health: () => Health | Promise<Health>, status: number, body: object][] = [
  ["is well", () => ({ well: true, told: { bundles: 3 } }), 200, { bundles: 3 }],
  ["ends", async () => ({ well: false, told: { state: "stopping" } }), 503, { state: "stopping" }],
  ["cannot tell", () => Promise.reject(new Error("no store")), 503, { error: "Error: no store" }],
];
for (const [what, health, status, body] of cases)
  test(`a process that ${what} answers ${status}, and why`, async (context) => {
    const { port } = await opened(context, health);
    const answer = await ask(port);
    assert.deepEqual([answer.status, answer.headers.get("content-type")], [status, "application/json"]);
    assert.deepEqual(await answer.json(), body);
  });

test("health is asked anew for each answer", async (context) => {
  let well = true;
  const { port } = await opened(context, () => ({ well, told: {} }));
  assert.equal((await ask(port)).status, 200);
  well = false;
  assert.equal((await ask(port)).status, 503);
});

for (const [path, method, status] of [
  ["/", "GET", 404],
  ["/healthz?all", "GET", 404],
  ["/healthz", "POST", 405],
  ["/healthz", "HEAD", 200],
] as const)
  test(`${method} ${path} is answered ${status}`, async (context) => {
    const { port } = await opened(context, () => ({ well: true, told: {} }));
    assert.equal((await ask(port, path, method)).status, status);
  });

test("what is no HTTP, or has endless headers, is answered 4xx and closed, and others are answered as before", async (context) => {
  const { port } = await opened(context, () => ({ well: true, told: {} }));
  for (const [sent, status] of [
    ["not http at all\r\n\r\n", 400],
    [`GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    const socket = connect(port, "127.0.0.1");
    socket.setEncoding("utf8");
    let said = "";
    socket.on("data", (text) => {
      said += text;
    });
    socket.on("error", () => {});
    socket.write(sent);
    await once(socket, "close");
    assert.match(said, new RegExp(`^HTTP/1.1 ${status} `));
  }
  assert.equal((await ask(port)).status, 200);
});

test("a port that is taken is an error", async (context) => {
  const { port } = await opened(context, () => ({ well: true, told: {} }));
  await assert.rejects(openHealthPort({ port, host: "127.0.0.1", health: () => ({ well: true, told: {} }) }), /EADDRINUSE/);
});

test("a port that was closed answers no more, whoever is still connected", async () => {
  const port = await openHealthPort({ port: 0, host: "127.0.0.1", health: () => ({ well: true, told: {} }) });
  const socket = connect(port.port, "127.0.0.1");
  await once(socket, "connect");
  const ended = once(socket, "close");
  socket.on("error", () => {});
  socket.resume();
  await port.close();
  await ended;
  await assert.rejects(ask(port.port));
});
