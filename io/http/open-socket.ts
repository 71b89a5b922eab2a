// How is a socket opened to exactly an address that the guard has passed? TCP, then TLS (RFC 8446) with the URL's host as its name.
import { isIP, connect as netConnect, type Socket } from "node:net";
import { type ConnectionOptions, connect as tlsConnect } from "node:tls";
import { type AddressRanges, addressVerdict } from "../../core/http/public-address.ts";
import type { Clock } from "../../ports/clock.ts";
import { limits } from "../../schemas/limits.ts";
import type { FailureReason } from "../../schemas/reasons.ts";
import type { Countdown } from "./countdown.ts";
import { HANDSHAKE_TIMEOUT, type TlsFault, tlsFaultOf } from "./tls-fault.ts";

export type Opened = { ok: true; socket: Socket; address: string; protocol: HttpProtocol } | NotOpened;

export interface NotOpened {
  ok: false;
  reason: FailureReason;
  /** Where the reason is `tls` it begins with the fault and a colon. */
  detail: string;
  fault?: TlsFault;
  /** It is this machine that has no file handle left. */
  starved?: boolean;
}

export type HttpProtocol = "h2" | "http/1.1";

export interface OpenOptions {
  clock: Clock;
  allow: AddressRanges;
  time: Countdown;
  /** Undefined: plain TCP. `host` is the URL's, which the certificate must name; `protocols` are offered by ALPN (RFC 7301). */
  tls: { host: string; protocols: readonly HttpProtocol[]; options: ConnectionOptions } | undefined;
}

/** Tries the addresses in order until one takes the connection, limits.connectMs in all. They must have passed the guard. */
export async function openSocket(addresses: readonly string[], port: number, options: OpenOptions): Promise<Opened> {
  const { clock, time } = options;
  const endsAt = clock.now() + limits.connectMs;
  const tried = addresses.slice(0, ADDRESSES);
  let last: Opened = { ok: false, reason: "connect", detail: "no address" };
  for (const [index, address] of tried.entries()) {
    const leftMs = endsAt - clock.now();
    if (leftMs <= 0 || time.over()) break;
    const attemptMs = index < tried.length - 1 ? Math.min(leftMs, ATTEMPT_MS) : leftMs;
    last = await openTcp(address, port, attemptMs, options);
    if (last.ok) break;
  }
  if (last.ok && options.tls !== undefined) {
    last = await openTls(last.socket, last.address, Math.max(1, endsAt - clock.now()), options);
  }
  if (!time.over()) return last;
  if (last.ok) last.socket.destroy();
  return { ok: false, reason: "timeout", detail: "the request's time ended while connecting" };
}

const ADDRESSES = 4; // of one name; the fifth never answers where four did not
const ATTEMPT_MS = 3000; // for an address while others are left: one lost SYN is repeated within it

function openTcp(address: string, port: number, attemptMs: number, options: OpenOptions): Promise<Opened> {
  const socket = netConnect({ host: address, port, autoSelectFamily: false, noDelay: true });
  return settled(socket, "connect", attemptMs, options).then((error) => {
    if (error !== undefined) {
      const starved = codeOf(error) === "EMFILE" || codeOf(error) === "ENFILE";
      return { ok: false, reason: "connect", detail: `${address}:${port}: ${connectDetail(error)}`, starved };
    }
    // The guard again, on where the socket truly leads.
    if (socket.remoteAddress === undefined)
      return { ok: false, reason: "connect", detail: `${address}:${port}: connection reset` };
    const verdict = addressVerdict(socket.remoteAddress, options.allow);
    if (verdict.allowed) return { ok: true, socket, address, protocol: "http/1.1" };
    socket.destroy();
    return { ok: false, reason: "address", detail: `${address} led to ${socket.remoteAddress}: ${verdict.range}` };
  });
}

function openTls(raw: Socket, address: string, attemptMs: number, options: OpenOptions): Promise<Opened> {
  const host = options.tls!.host.replace(/\.$/, "");
  const named = isIP(host) === 0 ? { servername: host, host } : { host }; // RFC 6066 3: no address as a server name
  const ALPNProtocols = [...options.tls!.protocols];
  const socket = tlsConnect({ ...options.tls!.options, ...named, socket: raw, ALPNProtocols });
  return settled(socket, "secureConnect", attemptMs, options).then((error) => {
    if (error === undefined) {
      const http2 = socket.alpnProtocol === "h2" && ALPNProtocols.includes("h2");
      return { ok: true, socket, address, protocol: http2 ? "h2" : "http/1.1" };
    }
    raw.destroy();
    const { fault, text } = tlsFaultOf(error);
    return { ok: false, reason: "tls", fault, detail: `${fault}: ${host}: ${text}` };
  });
}

/** Waits for the event; resolves with the error where it does not come. The socket's errors are heard for as long as it lives. */
function settled(socket: Socket, event: string, withinMs: number, { clock, time }: OpenOptions): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const finish = (error?: Error) => {
      cancel();
      socket.off("close", closed).off(event, done);
      if (error !== undefined) socket.destroy();
      resolve(error);
    };
    const done = () => finish();
    const closed = () => finish(new Error("closed by the other side"));
    const cancel = clock.after(withinMs, () => finish(new Error(HANDSHAKE_TIMEOUT)));
    socket.on("error", finish).once("close", closed).once(event, done);
    time.whenOver(() => finish(new Error(HANDSHAKE_TIMEOUT)));
  });
}

function connectDetail(error: Error): string {
  return connectDetails[codeOf(error)] ?? error.message;
}

const connectDetails: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  EADDRNOTAVAIL: "no local address or port left",
  EMFILE: "no file handle is left on this machine (ulimit -n)",
  ENFILE: "no file handle is left on this machine",
  ETIMEDOUT: "timed out",
};

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}
