// How does one gRPC call pass the fault proxy? Four faults and the plain way, of HTTP/2 streams, so that no method need be known.
import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type ServerHttp2Stream,
} from "node:http2";
import { PassThrough, type Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { messageSplitter } from "./grpc-messages.ts";

/** `code` is gRPC's status code: 14 unavailable, 4 deadline exceeded, 10 aborted, 8 resource exhausted. */
export type GrpcFault =
  /** The server never hears of the call. */
  | { kind: "refuse"; code: number }
  /**
   * The call is carried out, then the client gets `code` after the first `messages` (default 0) of the answer. Where the client keeps
   * its side open (StreamingPull) the next message is the end, and is lost.
   */
  | { kind: "lose-answer"; code: number; messages?: number }
  /** The call is carried out, and again once that is answered. The client hears one of the answers, by default the second. */
  | { kind: "double"; heard?: "first" | "second" }
  /** The server hears of the call so much later; once it was sent as a whole, even if the client has given up. */
  | { kind: "slow"; ms: number };

/** A call of the client. */
export interface Exchange {
  client: ServerHttp2Stream;
  /** Opens the call at the server. */
  open: () => ClientHttp2Stream;
  /** Told gRPC's status code as the client gets it. */
  end: (code: number) => void;
}

type ResponseHeaders = IncomingHttpHeaders & IncomingHttpStatusHeader;

const INTERNAL = 13;
const UNAVAILABLE = 14;

/** A call that is to be doubled was sent as a whole by then, else it is one whose client's side stays open. */
const REQUEST_MS_MAX = 1_000;

export function relay(exchange: Exchange, fault: GrpcFault | undefined): void {
  switch (fault?.kind) {
    case undefined:
      return pass(exchange);
    case "refuse":
      return refuse(exchange, fault.code, "refused by the fault proxy");
    case "lose-answer":
      return lose(exchange, fault.code, fault.messages ?? 0);
    case "double":
      return void double(exchange, fault.heard ?? "second");
    case "slow":
      return void slow(exchange, fault.ms);
  }
}

function pass(exchange: Exchange): void {
  const { client } = exchange;
  const server = exchange.open();
  client.pipe(server);
  client.once("close", () => server.close(constants.NGHTTP2_CANCEL));
  answer(exchange, server);
}

function lose(exchange: Exchange, code: number, messages: number): void {
  const { client, end } = exchange;
  const server = exchange.open();
  const split = messageSplitter();
  let headers: ResponseHeaders | undefined;
  let passed = 0;
  const finish = () => {
    if (client.headersSent) client.end();
    else refuse(exchange, code, "answer lost by the fault proxy");
  };
  client.pipe(server);
  client.once("close", () => {
    if (!client.readableEnded) server.close(constants.NGHTTP2_CANCEL);
  });
  client.once("wantTrailers", () => {
    end(code);
    client.sendTrailers(status(code, "answer lost by the fault proxy"));
  });
  server.once("response", (given) => {
    headers = given;
  });
  server.on("data", (piece: Buffer) => {
    for (const message of split(piece)) {
      if (passed < messages) {
        if (passed === 0 && answerable(client)) client.respond(headers, { waitForTrailers: true });
        if (!client.destroyed) client.write(message);
      } else if (!client.readableEnded) {
        server.close(constants.NGHTTP2_CANCEL);
      }
      passed++;
    }
  });
  server.once("close", finish);
}

async function double(exchange: Exchange, heard: "first" | "second"): Promise<void> {
  const request = await Promise.race([whole(exchange.client), pause(REQUEST_MS_MAX, "late" as const, { ref: false })]);
  if (request === undefined) return;
  if (request === "late")
    return refuse(exchange, INTERNAL, "the fault proxy cannot double a call whose client keeps its side open");
  for (const turn of ["first", "second"]) {
    const server = exchange.open();
    server.end(request);
    if (turn === heard) answer(exchange, server);
    else server.resume();
    await new Promise((resolve) => server.once("close", resolve));
  }
}

async function slow(exchange: Exchange, ms: number): Promise<void> {
  const { client } = exchange;
  const request = client.pipe(new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER }));
  await pause(ms);
  if (client.destroyed && !client.readableEnded) return;
  const server = exchange.open();
  request.pipe(server);
  client.once("close", () => {
    if (!client.readableEnded) server.close(constants.NGHTTP2_CANCEL);
  });
  answer(exchange, server);
}

/** Passes the server's answer to the client, or that there is none. */
function answer({ client, end }: Exchange, server: ClientHttp2Stream): void {
  let trailers: IncomingHttpHeaders | undefined;
  server.once("response", (headers, flags) => {
    if (!answerable(client)) return void server.resume();
    const last = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    if (last) end(codeOf(headers));
    client.respond(headers, last ? { endStream: true } : { waitForTrailers: true });
    if (last) server.resume();
    else server.pipe(client);
  });
  server.once("trailers", (given) => {
    trailers = given;
  });
  client.once("wantTrailers", () => {
    const told = trailers ?? status(UNAVAILABLE, "the server's answer broke off");
    end(codeOf(told));
    client.sendTrailers(told);
  });
  server.once("close", () => {
    if (client.headersSent) client.end();
    else refuse({ client, end }, UNAVAILABLE, "the server is gone");
  });
}

/** An answer without a message: headers that are trailers at once. */
function refuse({ client, end }: Pick<Exchange, "client" | "end">, code: number, message: string): void {
  if (!answerable(client)) return;
  client.resume();
  end(code);
  client.respond({ "content-type": "application/grpc+proto", ...status(code, message) }, { endStream: true });
}

function answerable(client: ServerHttp2Stream): boolean {
  return !client.destroyed && !client.closed && !client.headersSent;
}

function status(code: number, message: string): Record<string, string> {
  return { "grpc-status": `${code}`, "grpc-message": message };
}

function codeOf(trailers: IncomingHttpHeaders): number {
  return Number(trailers["grpc-status"] ?? UNAVAILABLE);
}

/** Undefined where it broke off. */
async function whole(stream: Readable): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  // Not an async iterator, which would destroy the stream at its end, and the answer with it.
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  return new Promise((resolve) => {
    stream.once("end", () => resolve(Buffer.concat(pieces)));
    stream.once("close", () => resolve(undefined));
  });
}
