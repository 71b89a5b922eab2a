// One open connection that speaks HTTP/1.1: undici's parser over a socket that we opened, handed over once and never opened again.
import type { Socket } from "node:net";
import { Client } from "undici";
import { limits } from "../../schemas/limits.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { http1Exchange } from "./http1-exchange.ts";

export interface Http1Connection extends Connection {
  readonly client: Client;
  /** Sees what arrives before the parser does, and gives back what the parser is to have. */
  tap: ((chunk: Buffer) => Buffer) | undefined;
  /**
   * Makes the server wait. Not by undici's own pause: a connection that is reset meanwhile, with a body that has no length, ends in an
   * assertion there.
   */
  hold(): void;
  flow(): void;
}

export function openHttp1({ key, origin, address, socket, headerBytes }: ConnectionOptions): Http1Connection {
  const client = new Client(origin, {
    connect: handOver(socket),
    pipelining: 1,
    maxHeaderSize: headerBytes,
    // All times are ours: undici's timers may be a second off, and its body timer starts again with each byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    // It does honour the server's Keep-Alive header, which we leave to it.
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: limits.keepAliveMs,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
  });
  const connection: Http1Connection = {
    ...tappedReads(socket, () => connection.tap),
    key,
    address,
    socket,
    client,
    tap: undefined,
    exchange: (request, options) => http1Exchange(connection, request, options),
    // With an error: without one undici takes the closing for the end of a body that has no length, and asserts that it was not aborted.
    end: () => socket.destroy(new Error("ended by us")),
    alive: () => !socket.destroyed && socket.writable && !socket.readableEnded,
  };
  return connection;
}

const KEEP_ALIVE_MARGIN_MS = 1000; // a request must not cross the server's own closing on the way

/** undici's connector: gives our socket the first time, and an error ever after. That is what forbids it to reconnect or to repeat. */
function handOver(socket: Socket): Client.Options["connect"] & object {
  let spent = false;
  const early = () => {
    // Nothing was asked yet: an end is noticed by reading it, and a byte is an answer to nobody.
    if (socket.read() !== null) socket.destroy();
  };
  socket.on("readable", early);
  return (_options: unknown, callback: (error: Error | null, socket: Socket | null) => void) => {
    const gone = spent || socket.destroyed;
    spent = true;
    socket.off("readable", early);
    // Not at once: undici would find itself resuming, and would forget the request.
    queueMicrotask(() => (gone ? callback(new Error("the connection is gone"), null) : callback(null, socket)));
  };
}

// undici pulls from the socket by read() whenever it is readable, and has no hook for raw bytes.
function tappedReads(socket: Socket, tap: () => Http1Connection["tap"]): Pick<Http1Connection, "hold" | "flow"> {
  const read = socket.read.bind(socket);
  let held = false;
  socket.read = (size?: number) => {
    for (;;) {
      if (held) return null;
      const chunk: Buffer | null = read(size);
      const pass = tap();
      if (chunk === null || pass === undefined) return chunk;
      const rest = pass(chunk);
      if (rest.length > 0) return rest;
    }
  };
  return {
    hold() {
      held = true;
    },
    flow() {
      held = false;
      socket.emit("readable");
    },
  };
}
