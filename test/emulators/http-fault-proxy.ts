// What does a client of Cloud Storage do when requests fail on the way? A proxy that refuses, loses, doubles and delays as a test plans it.
import { Agent, createServer, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { type Call, type CallEntry, callBook } from "./calls.ts";
import { storageMethod } from "./storage-methods.ts";

/** How a request fails for the client: with an HTTP status (503, 429, 408), or with its connection. */
export type HttpFailure = number | "reset";

export type HttpFault =
  /** The server never hears of the request. */
  | { kind: "refuse"; status: HttpFailure }
  /** The request is carried out, then the client gets the failure. With `bytes` it gets so many of the body first, then a reset. */
  | { kind: "lose-answer"; status: HttpFailure; bytes?: number }
  /** The request is carried out, and again once that is answered. The client hears one of the answers, by default the second. */
  | { kind: "double"; heard?: "first" | "second" }
  /** The server hears of the request so much later, even if the client has given up. */
  | { kind: "slow"; ms: number };

export interface HttpFaultProxyOptions {
  /** `host:port` of the server, which may end and come back. */
  target: string;
  /** Asked once a request, when its head has come. Methods are named as by `storageMethod`. */
  faults?: (call: Call) => HttpFault | undefined;
  log?: (entry: CallEntry) => void;
}

export interface HttpFaultProxy {
  /** `host:port`; the storage client takes `http://` before it. */
  endpoint: string;
  /** Requests by method, as the client made them: a doubled one counts once. */
  counts: () => Record<string, number>;
  /** Counts from nothing again. */
  reset: () => void;
  /** Cuts all connections, and waits for that. */
  stop: () => Promise<void>;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Sends the request with this body to the server; undefined where that is gone. */
  forward: (body: Buffer) => Promise<IncomingMessage | undefined>;
}

/** Starts a proxy on a free port of 127.0.0.1. Bodies of requests are held in memory, those of answers pass through. */
export async function startHttpFaultProxy(options: HttpFaultProxyOptions): Promise<HttpFaultProxy> {
  const book = callBook(options.log);
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const { call, end } = book.begin("storage", storageMethod(request.method ?? "", request.url ?? "/"));
    response.on("error", () => {});
    response.once("close", () => end(response.writableFinished ? response.statusCode : undefined));
    const forward = (body: Buffer) => send(request, body, options.target, agent);
    void carry({ request, response, forward }, options.faults?.(call));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: book.counts,
    reset: book.reset,
    stop: () =>
      new Promise((resolve) => {
        agent.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The server may go at any time: then the client's connection is reset, as the server's would be. */
async function carry(exchange: Exchange, fault: HttpFault | undefined): Promise<void> {
  const body = await whole(exchange.request);
  if (body === undefined) return;
  switch (fault?.kind) {
    case undefined:
      return answer(exchange, await exchange.forward(body));
    case "refuse":
      return fail(exchange, fault.status);
    case "lose-answer":
      return lose(exchange, body, fault);
    case "double":
      return double(exchange, body, fault.heard ?? "second");
    case "slow":
      await pause(fault.ms);
      return answer(exchange, await exchange.forward(body));
  }
}

async function lose(exchange: Exchange, body: Buffer, { status, bytes }: HttpFault & { kind: "lose-answer" }): Promise<void> {
  const { response } = exchange;
  const answered = await exchange.forward(body);
  if (answered === undefined || bytes === undefined) {
    if (answered !== undefined) await whole(answered);
    return fail(exchange, status);
  }
  const first = (await whole(answered))?.subarray(0, bytes) ?? "";
  response.writeHead(answered.statusCode ?? 200, answered.headers);
  // The reset would overtake what has not left yet.
  response.write(first, () => fail(exchange, "reset"));
}

async function double(exchange: Exchange, body: Buffer, heard: "first" | "second"): Promise<void> {
  for (const turn of ["first", "second"]) {
    const answered = await exchange.forward(body);
    if (turn === heard) answer(exchange, answered);
    else answered?.resume();
    if (answered !== undefined) await new Promise((resolve) => answered.once("close", resolve));
  }
}

function answer(exchange: Exchange, answered: IncomingMessage | undefined): void {
  if (answered === undefined) return fail(exchange, "reset");
  if (exchange.response.destroyed) return void answered.resume();
  exchange.response.writeHead(answered.statusCode ?? 200, answered.headers);
  pipeline(answered, exchange.response, (error) => {
    if (error) fail(exchange, "reset");
  });
}

/** Of Google's errors the client reads status and reason. */
function fail({ request, response }: Exchange, status: HttpFailure): void {
  if (status === "reset" || response.headersSent) return void request.socket.resetAndDestroy();
  const error = { code: status, message: "failed by the fault proxy", errors: [{ reason: "backendError" }] };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}

function send(request: IncomingMessage, body: Buffer, target: string, agent: Agent): Promise<IncomingMessage | undefined> {
  const { "transfer-encoding": _, ...headers } = request.headers;
  const options = { method: request.method, path: request.url, agent, headers: { ...headers, "content-length": body.length } };
  return new Promise((resolve) => {
    // The host that the client named stays: upload sessions are answered with it.
    const forwarded = openRequest(`http://${target}`, options, resolve);
    forwarded.once("error", () => resolve(undefined));
    forwarded.end(body);
  });
}

/** Undefined where it broke off. */
function whole(stream: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  return new Promise((resolve) => {
    stream.once("end", () => resolve(Buffer.concat(pieces)));
    stream.once("close", () => resolve(undefined));
    stream.once("error", () => resolve(undefined));
  });
}
