// One open connection that speaks HTTP/2 (RFC 9113): node:http2 over a socket that we opened, one stream at a time.
import { type ClientHttp2Session, connect as connectHttp2, type SecureClientSessionOptions } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../ports/clock.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { type Cause, causeOf } from "./failure.ts";
import { http2Exchange } from "./http2-exchange.ts";
import { http2Wire, type Watcher } from "./http2-wire.ts";

export interface Http2ConnectionOptions extends ConnectionOptions {
  clock: Clock;
  /** Called where the server breaks the rules of HTTP/2, or asks for HTTP/1.1. */
  misfit(): void;
}

/** Nothing is sent before the first request: its preface and settings leave with it. */
export function openHttp2(options: Http2ConnectionOptions): Connection {
  const { key, origin, address, socket, headerBytes, misfit } = options;
  const wire = http2Wire(options);
  let session: ClientHttp2Session | undefined;
  const end = () => {
    socket.destroy();
    wire.duplex.destroy();
  };
  const lost = () => (socket.errored === null ? closed : causeOf(socket.errored));
  const idle: Watcher = {
    leaves: () => false,
    fault(cause) {
      if (cause.reason === "protocol") misfit();
      end();
    },
  };
  const open = () => {
    // RFC 9113 9.2.1
    (socket as Partial<TLSSocket>).disableRenegotiation?.();
    const opened = connectHttp2(origin, { ...sessionOptions(headerBytes), createConnection: () => wire.duplex });
    opened.setLocalWindowSize(WINDOW_BYTES);
    return opened.on("error", () => {}); // its stream tells
  };
  wire.watch(idle);
  return {
    key,
    address,
    socket,
    end,
    alive: () =>
      !socket.destroyed && socket.writable && !socket.readableEnded && wire.fault() === undefined && session?.closed !== true,
    exchange(request, options) {
      const settle = (reusable: boolean) => {
        wire.watch(idle);
        options.settle(reusable);
      };
      const ask = (headers: readonly string[]) => {
        session ??= open();
        return session.request(headers, { endStream: true });
      };
      return http2Exchange({ wire, ask, end, lost, misfit }, request, { ...options, settle });
    },
  };
}

const closed: Cause = { reason: "reset", detail: "closed by the other side" };

const WINDOW_BYTES = 256 * 1024; // unread bytes of a body: what waits in front of the reader, once more
const HEADER_PAIRS = 1000; // no site has as many; by references to a table of 4 KB each they are 4 MB at most
const PAIR_BYTES = 32; // RFC 9113 6.5.2: what each counts beyond its name and value
const SESSION_MEGABYTES = 2; // the window, the headers and node:http2's own

/** Our own count of header bytes comes first, these bounds stand behind it. */
function sessionOptions(headerBytes: number): SecureClientSessionOptions {
  return {
    maxHeaderListPairs: HEADER_PAIRS,
    maxReservedRemoteStreams: 0,
    maxSessionMemory: SESSION_MEGABYTES,
    settings: {
      enablePush: false,
      initialWindowSize: WINDOW_BYTES,
      maxHeaderListSize: headerBytes + HEADER_PAIRS * PAIR_BYTES,
    },
  };
}
