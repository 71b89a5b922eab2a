// Servers of HTTP/2 over TLS on loopback for the tests: node:http2's own, and one that sends whatever frames it is told to.
import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { UndiciHttpOptions } from "../../../io/http/undici-http.ts";
import type { Http } from "../../../ports/http.ts";
import { selfSigned } from "./certificate.ts";
import { listen, loopbackHttp, realClock, tableResolver } from "./fixtures.ts";

export const certificate = selfSigned("shop.example", realClock.now());

/** An Http that trusts the servers of this file. */
export function trustingHttp(context: TestContext, options: Partial<UndiciHttpOptions> = {}): Http {
  const resolver = tableResolver({ "shop.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]] });
  return loopbackHttp(context, { resolver, tls: { ca: certificate.cert }, ...options });
}

export interface Http2Server {
  origin: string;
  /** Sessions, or TLS connections, so far. */
  connections(): number;
  /** Requests so far. */
  requests(): number;
}

/** node:http2's server; `answer` is given each stream. */
export async function http2Server(
  context: TestContext,
  answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: string[]) => void,
): Promise<Http2Server> {
  let connections = 0;
  let requests = 0;
  const server = createSecureServer(certificate);
  const sockets = new Set<TLSSocket>();
  server.on("secureConnection", (socket: TLSSocket) => {
    connections += 1;
    sockets.add(socket.on("error", () => {}));
  });
  server.on("sessionError", () => {}).on("tlsClientError", () => {});
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
    requests += 1;
    stream.on("error", () => {});
    answer(stream, headers, raw);
  });
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const origin = `https://shop.example:${await listen(server)}`;
  return { origin, connections: () => connections, requests: () => requests };
}

export interface FrameServer extends Http2Server {
  /** Everything received after the preface, as frames. */
  received(): { type: number; flags: number; stream: number; content: Buffer }[];
}

export interface FrameServerOptions {
  /** Written as soon as a connection stands. */
  greeting?: Buffer;
  /** By ALPN, in its order of preference. */
  protocols?: string[];
  onConnection?: (socket: TLSSocket) => void;
}

/** Takes each HEADERS frame for a request and lets `answer` do as it likes. */
export async function frameServer(
  context: TestContext,
  answer: (socket: TLSSocket, stream: number, resetConnection: () => void) => void,
  { greeting = settings(), protocols = ["h2"], onConnection }: FrameServerOptions = {},
): Promise<FrameServer> {
  let connections = 0;
  const frames: ReturnType<FrameServer["received"]> = [];
  const sockets = new Set<TLSSocket>();
  const raw = new Map<number | undefined, Socket>(); // below TLS
  const server = createTlsServer({ key: certificate.key, cert: certificate.cert, ALPNProtocols: protocols }, (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    onConnection?.(socket);
    if (socket.alpnProtocol !== "h2") return;
    let pending: Buffer = Buffer.alloc(0);
    let skip = 24;
    socket.on("data", (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      if (skip > 0 && pending.length >= skip) {
        pending = pending.subarray(skip);
        skip = 0;
      }
      while (skip === 0 && pending.length >= 9 && pending.length >= 9 + pending.readUIntBE(0, 3)) {
        const end = 9 + pending.readUIntBE(0, 3);
        const read = {
          type: pending[3]!,
          flags: pending[4]!,
          stream: pending.readUInt32BE(5),
          content: pending.subarray(9, end),
        };
        frames.push(read);
        pending = pending.subarray(end);
        if (read.type === 1) answer(socket, read.stream, () => raw.get(socket.remotePort)?.resetAndDestroy());
      }
    });
    if (greeting.length > 0) socket.write(greeting);
  });
  server.on("tlsClientError", () => {}).on("connection", (socket) => raw.set(socket.remotePort, socket));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const origin = `https://shop.example:${await listen(server)}`;
  const requests = () => frames.filter(({ type }) => type === 1).length;
  return { origin, connections: () => connections, requests, received: () => frames };
}

const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const PADDED = 0x8;

/** RFC 9113 4.1. */
export function frame(type: number, flags: number, stream: number, content: Buffer | string = ""): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(Buffer.byteLength(content), 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, Buffer.from(content)]);
}

export function settings(...pairs: [id: number, value: number][]): Buffer {
  const content = Buffer.alloc(6 * pairs.length);
  for (const [index, [id, value]] of pairs.entries()) {
    content.writeUInt16BE(id, 6 * index);
    content.writeUInt32BE(value, 6 * index + 2);
  }
  return frame(4, 0, 0, content);
}

/** A header block (RFC 7541 6.2.2): literals without Huffman coding, and without an entry in the table. */
export function block(...headers: [name: string, value: string][]): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** The same with an entry in the table (RFC 7541 6.2.1), which is then number 62. */
export function indexed(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127]; // RFC 7541 5.1
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>= 7) length.push(128 | (rest & 127));
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

export interface HeadersFlags {
  end?: boolean;
  /** A CONTINUATION is to follow. */
  more?: boolean;
}

export function headersFrame(stream: number, content: Buffer, { end = false, more = false }: HeadersFlags = {}): Buffer {
  return frame(1, (end ? END_STREAM : 0) | (more ? 0 : END_HEADERS), stream, content);
}

/** The head of an answer. */
export function head(stream: number, status: number, ...headers: [name: string, value: string][]): Buffer {
  return headersFrame(stream, block([":status", String(status)], ...headers));
}

export function data(stream: number, content: Buffer | string, end = false): Buffer {
  return frame(0, end ? END_STREAM : 0, stream, content);
}

/** DATA without content: padding alone. */
export function padding(stream: number, bytes: number): Buffer {
  return frame(0, PADDED, stream, Buffer.concat([Buffer.from([bytes]), Buffer.alloc(bytes)]));
}

export function reset(stream: number, code: number): Buffer {
  return frame(3, 0, stream, number32(code));
}

export function goaway(lastStream: number, code: number): Buffer {
  return frame(7, 0, 0, Buffer.concat([number32(lastStream), number32(code)]));
}

export function ping(): Buffer {
  return frame(6, 0, 0, Buffer.alloc(8));
}

export function windowUpdate(stream: number, bytes: number): Buffer {
  return frame(8, 0, stream, number32(bytes));
}

export function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The bytes for as long as the other side takes them. */
export function flood(socket: TLSSocket, bytes: Buffer): void {
  const many = Buffer.concat(Array.from({ length: Math.ceil(16_000 / bytes.length) }, () => bytes));
  const more = () => {
    while (!socket.destroyed && socket.write(many));
  };
  socket.on("drain", more);
  more();
}
