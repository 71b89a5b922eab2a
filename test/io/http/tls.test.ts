// A server over TLS is who its certificate says, or the request does not leave.
import assert from "node:assert/strict";
import { createServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { type TestContext, test } from "node:test";
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from "node:tls";
import { type TlsFault, tlsFaultOf } from "../../../io/http/tls-fault.ts";
import { type Certificate, root, selfSigned, signedBy } from "./certificate.ts";
import {
  bodyLimits,
  httpAnswer,
  listen,
  loopbackHttp,
  rawServer,
  realClock,
  requestLimits,
  send,
  tableResolver,
} from "./fixtures.ts";

const DAY_MS = 86_400_000;

async function secureServer(context: TestContext, certificate: { key: string; cert: string }) {
  const names: unknown[] = [];
  let requests = 0;
  const server = createServer(certificate, (request, response) => {
    requests += 1;
    names.push((request.socket as TLSSocket & { servername?: unknown }).servername);
    response.end(`hello ${request.headers.host}`);
  });
  server.on("tlsClientError", () => {});
  context.after(() => server.close());
  return { port: await listen(server), names, requests: () => requests };
}

test("a trusted certificate of the right name is taken, and its connection reused", async (context) => {
  const certificate = selfSigned("shop.example", realClock.now());
  const server = await secureServer(context, certificate);
  const resolver = tableResolver({ "shop.example": [["127.0.0.1"]] });
  const http = loopbackHttp(context, { resolver, tls: { ca: certificate.cert } });
  for (let turn = 0; turn < 2; turn++) {
    const result = await send(http, `https://shop.example:${server.port}/`);
    assert.ok(result.ok, JSON.stringify(result));
    const read = await result.body(bodyLimits);
    assert.ok(read.ok && Buffer.from(read.bytes).toString() === `hello shop.example:${server.port}`);
  }
  assert.deepEqual(server.names, ["shop.example", "shop.example"]);
});

test("each fault of a certificate is told apart, and no request leaves", async (context) => {
  const now = realClock.now();
  const good = selfSigned("shop.example", now);
  const nobody = root("Nobody's Root", now);
  const issued = signedBy(nobody, "shop.example", now);
  const chained = { ...issued, cert: issued.cert + nobody.cert };
  const rows: [certificate: Certificate, host: string, trusted: boolean, fault: TlsFault][] = [
    [good, "shop.example", false, "tls-self-signed"],
    [good, "other.example", true, "tls-name"],
    [good, "127.0.0.1", true, "tls-name"],
    [selfSigned("shop.example", now - DAY_MS), "shop.example", true, "tls-expired"],
    [selfSigned("shop.example", now + DAY_MS), "shop.example", true, "tls-not-yet-valid"],
    [issued, "shop.example", false, "tls-issuer"],
    [chained, "shop.example", false, "tls-issuer"],
    [{ ...issued, cert: damaged(issued.cert) }, "shop.example", true, "tls-certificate"],
  ];
  for (const [certificate, host, trusted, fault] of rows) {
    const server = await secureServer(context, certificate);
    await assertFault(context, `https://${host}:${server.port}/`, fault, trusted ? nobody.cert + certificate.cert : undefined);
    assert.equal(server.requests(), 0);
  }
});

test("each fault of a handshake is told apart", async (context) => {
  const { key, cert } = selfSigned("shop.example", realClock.now());
  const tlsServer = async (options: TlsOptions) => {
    const server = createTlsServer({ key, cert, ...options });
    server.on("tlsClientError", () => {});
    context.after(() => server.close());
    return listen(server);
  };
  const says = async (bytes: string | Buffer) => {
    const server = createTcpServer((socket) => socket.on("error", () => {}).once("data", () => socket.end(bytes)));
    context.after(() => server.close());
    return listen(server);
  };
  const rows: [name: string, port: number, fault: TlsFault][] = [
    [
      "TLS 1.1 at most",
      await tlsServer({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" }),
      "tls-protocol",
    ],
    ["no cipher in common", await tlsServer({ maxVersion: "TLSv1.2", ciphers: "NULL:@SECLEVEL=0" }), "tls-weak"],
    ["neither HTTP/2 nor HTTP/1.1", await tlsServer({ ALPNProtocols: ["spdy/3"] }), "tls-no-http"],
    ["plain HTTP", await says("HTTP/1.1 400 Bad Request\r\n\r\n"), "tls-not-tls"],
    ["garbage", await says(Buffer.alloc(300, 0xee)), "tls-not-tls"],
    ["the end at once", await says(""), "tls-closed"],
    ["a name that the server does not know", await says(alert(112)), "tls-unknown-name"],
    ["a certificate is wanted", await says(alert(116)), "tls-client-certificate"],
    ["a version that the server does not want", await says(alert(70)), "tls-protocol"],
    ["an alert without a meaning", await says(alert(80)), "tls-handshake"],
  ];
  for (const [name, port, fault] of rows) await assertFault(context, `https://shop.example:${port}/`, fault, cert, name);
  const reset = await rawServer(context, () => {});
  const server = createTcpServer((socket) => socket.on("error", () => {}).once("data", () => socket.resetAndDestroy()));
  context.after(() => server.close());
  await assertFault(context, `https://shop.example:${await listen(server)}/`, "tls-closed", cert);
  const silent = await loopbackHttp(context).connect(`https://127.0.0.1:${reset.port}/`, { ...requestLimits, totalMs: 200 });
  assert.ok(!silent.ok && silent.reason === "timeout", JSON.stringify(silent));
});

test("every fault of a handshake that OpenSSL may name has one of ours, and what is unknown keeps its code", () => {
  const rows: [code: string, fault: TlsFault][] = [
    ["CERT_REVOKED", "tls-revoked"],
    ["ERR_SSL_DH_KEY_TOO_SMALL", "tls-weak"],
    ["ERR_SSL_UNSAFE_LEGACY_RENEGOTIATION_DISABLED", "tls-weak"],
    ["ERR_SSL_UNSUPPORTED_PROTOCOL", "tls-protocol"],
    ["ERR_SSL_UNEXPECTED_EOF_WHILE_READING", "tls-closed"],
    ["INVALID_PURPOSE", "tls-certificate"],
    ["ERR_SSL_SOMETHING_NEW", "tls-handshake"],
  ];
  for (const [code, fault] of rows) {
    const told = tlsFaultOf(Object.assign(new Error("as OpenSSL says it"), { code }));
    assert.equal(told.fault, fault, code);
    if (fault === "tls-handshake") assert.match(told.text, /SOMETHING_NEW/);
  }
});

/** No request may leave; the detail begins with the fault, and a counter has its name. */
async function assertFault(
  context: TestContext,
  url: string,
  fault: TlsFault,
  ca?: string,
  name: string = fault,
): Promise<void> {
  const counted: unknown[] = [];
  const metrics = { count: (...told: unknown[]) => void counted.push(told), gauge() {}, observe() {} };
  const resolver = tableResolver({ "shop.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]] });
  const http = loopbackHttp(context, { resolver, metrics, ...(ca === undefined ? {} : { tls: { ca } }) });
  const result = await http.connect(url, requestLimits);
  assert.ok(!result.ok && result.reason === "tls", `${name}: ${JSON.stringify(result)}`);
  assert.ok(result.detail.startsWith(`${fault}: `), `${name}: ${result.detail}`);
  assert.equal(result.sentAt, undefined);
  assert.deepEqual(counted[0], ["http_tls_failures_total", 1, { fault }]);
}

/** The last bytes of the signature are others. */
function damaged(pem: string): string {
  const [head, ...lines] = pem.trim().split("\n");
  const bytes = Buffer.from(lines.slice(0, -1).join(""), "base64");
  bytes[bytes.length - 3]! ^= 0x55;
  return `${head}\n${bytes.toString("base64").replace(/.{64}/g, "$&\n")}\n${lines.at(-1)}\n`;
}

/** A fatal alert (RFC 8446 6) in a record of TLS 1.2. */
function alert(description: number): Buffer {
  return Buffer.from([21, 3, 3, 0, 2, 2, description]);
}

test("a server that does not speak TLS, or is silent, fails the handshake", async (context) => {
  const plain = await rawServer(context, httpAnswer("x"));
  const http = loopbackHttp(context);
  const result = await http.connect(`https://127.0.0.1:${plain.port}/`, { ...requestLimits, totalMs: 300 });
  assert.ok(!result.ok && result.reason === "timeout", JSON.stringify(result));
  const server = createTcpServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad\r\n\r\n"));
  context.after(() => server.close());
  const spoken = await http.connect(`https://127.0.0.1:${await listen(server)}/`, requestLimits);
  assert.ok(!spoken.ok && spoken.reason === "tls", JSON.stringify(spoken));
  assert.match(spoken.detail, /does not speak TLS/);
});

test("the guard stands before TLS", async (context) => {
  const server = await secureServer(context, selfSigned("localhost", realClock.now()));
  const http = loopbackHttp(context, { allow: [] });
  const result = await http.connect(`https://127.0.0.1:${server.port}/`, requestLimits);
  assert.ok(!result.ok && result.reason === "address");
});
