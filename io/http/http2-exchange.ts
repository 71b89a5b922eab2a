// One request and its answer by HTTP/2 (RFC 9113 8), on a stream of its own.
import type { ClientHttp2Stream } from "node:http2";
import {
  answered,
  cut,
  type ExchangeOptions,
  ended,
  failed,
  leaves,
  type Request,
  type Running,
  type Sent,
} from "./exchange.ts";
import { type Cause, causeOf, messageOf } from "./failure.ts";
import { errorCodes } from "./http2-frames.ts";
import { type Http2Wire, tooManyHeaders } from "./http2-wire.ts";
import { http2Headers, unsendable } from "./request-headers.ts";

/** What an exchange needs of its connection. */
export interface Http2Line {
  wire: Http2Wire;
  /** Asks; name and value by turns. May throw. */
  ask(headers: readonly string[]): ClientHttp2Stream;
  end(): void;
  /** Why the connection went. */
  lost(): Cause;
  /** The server breaks the rules of HTTP/2, or asks for HTTP/1.1. */
  misfit(): void;
}

/** Never rejects. */
export function http2Exchange(line: Http2Line, request: Request, options: ExchangeOptions): Promise<Sent> {
  return new Promise((resolve) => {
    const { clock, time, host, path } = options;
    const running: Running = {
      ...options,
      resolve,
      sendBy: request.sendBy,
      headers: http2Headers({ host, path }, request.headers),
      abort(detail) {
        line.end();
        failed(running, { reason: "reset", detail });
      },
    };
    time.whenOver(() => cut(running, { reason: "timeout", detail: "the request's time ended" }));
    line.wire.watch({ leaves: () => leaves(running), fault: (cause) => broken(running, line, cause) });
    // RFC 9113 5.1.2: a server may allow no stream at all.
    running.stopTimer = clock.after(Math.max(0, request.sendBy - clock.now()) + 1, () =>
      broken(running, line, { reason: "protocol", detail: "HTTP/2: the server lets no request in", final: true }),
    );
    start(running, line);
  });
}

function start(running: Running, line: Http2Line): void {
  const fault = unsendable(running.headers);
  try {
    if (fault !== undefined) throw new Error(fault);
    listen(running, line, line.ask(running.headers.flat()));
  } catch (error) {
    cut(running, { reason: "protocol", detail: `request: ${messageOf(error)}`, final: true });
  }
}

/** What the wire has found comes before what became of it. It is no use to ask a server that breaks the rules by HTTP/2 again. */
function broken(running: Running, line: Http2Line, consequence: Cause): void {
  const cause = line.wire.fault() ?? consequence;
  if (running.endedAt === undefined && cause.reason === "protocol") line.misfit();
  cut(running, cause);
}

function listen(running: Running, line: Http2Line, stream: ClientHttp2Stream): void {
  const { passed } = line.wire;
  let headBytes = 0;
  const head = (raw: readonly string[]): [name: string, value: string][] | undefined => {
    const headers = pairs(raw);
    headBytes += headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (headBytes <= running.limits.headerBytes) return headers;
    cut(running, { reason: "header-bytes", detail: "the headers are too long" });
    return undefined;
  };
  stream.on("headers", (_headers, _flags, raw) => void head(raw)); // interim ones
  stream.on("response", (fields, _flags, raw) => {
    const headers = head(raw);
    const status = Number(fields[":status"]);
    if (headers === undefined || running.endedAt !== undefined) return;
    if (!(status >= 200)) {
      cut(running, { reason: "protocol", detail: `status ${status} was not asked for` });
      return;
    }
    // That of trailers, where they came with it: later than the truth, never earlier.
    running.answeredAt = Math.max(running.sentAt ?? 0, passed.headAt);
    passed.headBytes = 0;
    headBytes = 0;
    const statusLine = { status, statusText: "", httpVersion: "2" } as const;
    const body = answered(running, statusLine, headers, { pause: () => stream.pause(), resume: () => stream.resume() });
    stream.on("data", (chunk: Buffer) => body.push(chunk));
  });
  stream.on("trailers", (_headers, _flags, raw) => void head(raw));
  stream.on("end", () => {
    if (running.endedAt !== undefined) return;
    // node:http2 tells a reset and a closed connection as the regular end, too.
    const whole = running.body !== undefined && passed.ended && running.body.wireBytes() === passed.bodyBytes;
    if (!whole) {
      broken(running, line, line.lost());
      return;
    }
    ended(running);
    running.settle(true);
  });
  stream.on("error", (error) => broken(running, line, causeOfStream(error, stream.rstCode)));
  stream.on("close", () => broken(running, line, line.lost()));
}

/** A reset that came is told by the wire; what is left is node:http2's own judgement. */
function causeOfStream(error: Error, code: number): Cause {
  const { code: kind } = error as { code?: unknown };
  if (kind === "ERR_HTTP2_STREAM_ERROR" && code === errorCodes.enhanceYourCalm) return tooManyHeaders;
  if (kind === "ERR_HTTP2_STREAM_ERROR" || kind === "ERR_HTTP2_ERROR") return { reason: "protocol", detail: messageOf(error) };
  return causeOf(error);
}

function pairs(raw: readonly string[]): [name: string, value: string][] {
  const all = Array.from({ length: raw.length >> 1 }, (_, at): [string, string] => [raw[2 * at]!, raw[2 * at + 1]!]);
  return all.filter(([name]) => !name.startsWith(":"));
}
