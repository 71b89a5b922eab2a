// What the tests of io/http share: clocks, servers on loopback, and an Http that may reach them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { type AddressRanges, parseRanges } from "../../../core/http/public-address.ts";
import type { Resolver } from "../../../io/http/dns.ts";
import { type UndiciHttpOptions, undiciHttp } from "../../../io/http/undici-http.ts";
import type { Clock } from "../../../ports/clock.ts";
import type {
  Answer,
  Body,
  BodyFailure,
  BodyLimits,
  Connected,
  Http,
  HttpFailure,
  RequestLimits,
} from "../../../ports/http.ts";
import type { Metrics } from "../../../ports/metrics.ts";

export const realClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Time passes only by advance(). */
export function handClock(): Clock & { advance(ms: number): void } {
  let now = 1_000_000;
  const timers = new Set<{ at: number; run: () => void }>();
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at <= now && timers.delete(timer)) timer.run();
      }
    },
  };
}

const noMetrics: Metrics = { count() {}, gauge() {}, observe() {} };

export function ranges(...cidrs: string[]): AddressRanges {
  const parsed = parseRanges(cidrs);
  assert.ok(parsed.ok);
  return parsed.ranges;
}

/** Answers from a table; a name's answers are used up one by one, the last one stays. */
export function tableResolver(table: Record<string, string[][]>): Resolver {
  return {
    async resolve(host) {
      const answers = table[host] ?? [host === "localhost" ? ["127.0.0.1"] : [host]];
      const addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
      return addresses.length > 0 ? { ok: true, addresses } : { ok: false, detail: `${host}: no such name` };
    },
  };
}

/** An Http that reaches loopback, closed at the test's end. */
export function loopbackHttp(context: TestContext, options: Partial<UndiciHttpOptions> = {}): Http {
  const http = undiciHttp({
    clock: realClock,
    resolver: tableResolver({}),
    allow: ranges("127.0.0.0/8", "::1"),
    fetchers: 256,
    metrics: noMetrics,
    ...options,
  });
  context.after(() => http.close());
  return http;
}

export interface RawServer {
  origin: string;
  port: number;
  /** Connections accepted so far. */
  connections(): number;
  /** Everything received, as text. */
  received(): string;
}

/** A server of bytes: `answer` is written when a request's blank line has come; a function may do as it likes with the socket. */
export async function rawServer(
  context: TestContext,
  answer: string | Buffer | ((socket: Socket, request: string) => void),
): Promise<RawServer> {
  let connections = 0;
  let received = "";
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    let pending = "";
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      received += chunk;
      pending += chunk;
      for (let end = pending.indexOf("\r\n\r\n"); end >= 0; end = pending.indexOf("\r\n\r\n")) {
        const request = pending.slice(0, end + 4);
        pending = pending.slice(end + 4);
        if (typeof answer === "function") answer(socket, request);
        else socket.write(answer);
      }
    });
  });
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const port = await listen(server);
  return { origin: `http://127.0.0.1:${port}`, port, connections: () => connections, received: () => received };
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

export const requestLimits: RequestLimits = { totalMs: 5000, headersMs: 3000, headerBytes: 16 * 1024 };
export const bodyLimits: BodyLimits = { wireBytes: 1024 * 1024, decodedBytes: 2 * 1024 * 1024 };

export async function connect(http: Http, url: string, limits: Partial<RequestLimits> = {}): Promise<Connected> {
  const connected = await http.connect(url, { ...requestLimits, ...limits });
  assert.ok(connected.ok, JSON.stringify(connected));
  return connected;
}

/** Sends a GET at once. */
export async function send(http: Http, url: string, limits: Partial<RequestLimits> = {}): Promise<Answer | HttpFailure> {
  const connected = await connect(http, url, limits);
  const result = await connected.send({ headers: { "user-agent": "test" }, sendBy: realClock.now() + 1000 });
  if (!result.ok && result.reason === "unsent") assert.fail("unsent");
  return result;
}

export async function answer(http: Http, url: string, limits: Partial<RequestLimits> = {}): Promise<Answer> {
  const result = await send(http, url, limits);
  assert.ok(result.ok, JSON.stringify(result));
  return result;
}

export async function body(http: Http, url: string, limits: Partial<BodyLimits> = {}): Promise<Body | BodyFailure> {
  return (await answer(http, url)).body({ ...bodyLimits, ...limits });
}

export function httpAnswer(content: string | Buffer, headers = ""): Buffer {
  const head = `HTTP/1.1 200 OK\r\n${headers}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content)]);
}

/** Writes the head, then the piece every few milliseconds until the other side has had enough. */
export function drip(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(piece), 15);
  socket.on("close", () => clearInterval(timer));
}
