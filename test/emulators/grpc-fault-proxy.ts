// What does a client do when calls fail on the way? A proxy before a gRPC server that refuses, loses, doubles and delays as a test plans it.
import { type ClientHttp2Session, connect, createServer, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { type Call, type CallEntry, callBook } from "./calls.ts";
import { type GrpcFault, relay } from "./grpc-relay.ts";

export type { GrpcFault } from "./grpc-relay.ts";

export interface GrpcFaultProxyOptions {
  /** `host:port` of the server, which may end and come back. */
  target: string;
  /** Asked once a call, when its head has come. */
  faults?: (call: Call) => GrpcFault | undefined;
  log?: (entry: CallEntry) => void;
}

export interface GrpcFaultProxy {
  /** `host:port`, for the client. */
  endpoint: string;
  /** Calls by method, as the client made them: a doubled one counts once. */
  counts: () => Record<string, number>;
  /** Counts from nothing again. */
  reset: () => void;
  /** Cuts all connections, and waits for that. */
  stop: () => Promise<void>;
}

/** Of each connection; node's 64 KiB would make the proxy slower than what it stands before. */
const WINDOW_BYTES = 4 * 1024 * 1024;

/** Starts a proxy on a free port of 127.0.0.1. It passes every method of every service, in plain text. */
export async function startGrpcFaultProxy(options: GrpcFaultProxyOptions): Promise<GrpcFaultProxy> {
  const book = callBook(options.log);
  const open = new Set<{ destroy: () => void }>();
  const server = createServer({ settings: { initialWindowSize: WINDOW_BYTES } });
  server.on("session", (session) => {
    const upstream = upstreamOf(options.target);
    open.add(session);
    session.setLocalWindowSize(WINDOW_BYTES);
    session.on("error", () => {});
    session.once("close", () => {
      open.delete(session);
      upstream.destroy();
    });
    session.on("stream", (client, headers) => {
      const [, service = "", method = ""] = (headers[":path"] ?? "").split("/");
      const { call, end } = book.begin(service, method);
      client.on("error", () => {});
      client.once("close", () => end(undefined));
      relay({ client, open: () => upstream.request(headers), end }, options.faults?.(call));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: book.counts,
    reset: book.reset,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of open) session.destroy();
      }),
  };
}

/** The connection to the server that belongs to one of the client's; made anew when it was lost. */
function upstreamOf(target: string) {
  let session: ClientHttp2Session | undefined;
  return {
    request: (headers: IncomingHttpHeaders) => {
      if (session === undefined || session.closed || session.destroyed) session = connectTo(target);
      const stream = session.request(headers);
      // "close" tells of it.
      stream.on("error", () => {});
      return stream;
    },
    destroy: () => session?.destroy(),
  };
}

function connectTo(target: string): ClientHttp2Session {
  const session = connect(`http://${target}`, { settings: { initialWindowSize: WINDOW_BYTES } });
  session.on("error", () => {});
  session.once("connect", () => session.setLocalWindowSize(WINDOW_BYTES));
  return session;
}
