// One request and its answer on an open connection: sent in time or not at all, ended by whichever limit comes first.
import type { Dispatcher } from "undici";
import type { Clock } from "../../ports/clock.ts";
import type { Answer, Body, BodyFailure, BodyLimits, HttpFailure, RequestLimits, Unsent } from "../../ports/http.ts";
import { contentLength, readBody } from "./answer-body.ts";
import { answerHead } from "./answer-head.ts";
import type { Connection } from "./connection.ts";
import type { Countdown } from "./countdown.ts";
import { type Cause, causeOf, cutOf, messageOf } from "./failure.ts";
import { BodyCut, type Incoming, incoming } from "./incoming.ts";
import { requestHeaders } from "./request-headers.ts";

export interface ExchangeOptions {
  connection: Connection;
  clock: Clock;
  limits: RequestLimits;
  time: Countdown;
  /** The Host header, and path and query. */
  host: string;
  path: string;
  /** Called once, when the network is done with; whether the connection may serve another request. */
  settle(reusable: boolean): void;
}

/** Never rejects. */
export function exchange(
  request: { headers: Record<string, string>; sendBy: number },
  options: ExchangeOptions,
): Promise<Answer | HttpFailure | Unsent> {
  return new Promise((resolve) => {
    const headers = requestHeaders(options.host, request.headers);
    const running: Running = { ...options, resolve, sendBy: request.sendBy, headers, version: "1.1", raw: 0, rawMax: 0 };
    running.rawMax = HEAD_SHARE * options.limits.headerBytes;
    options.time.whenOver(() => cut(running, { reason: "timeout", detail: "the request's time ended" }));
    const handler = handlerOf(running);
    const { connection, path } = options;
    try {
      connection.client.dispatch({ method: "GET", path, headers: headers.flat() }, handler);
    } catch (error) {
      failed(running, error);
    }
  });
}

const HEAD_SHARE = 3; // raw bytes for each one that undici counts in names and values: separators, line ends, the reason phrase
const FRAMING_SHARE = 8; // raw bytes for each byte of the wire limit: chunks of one byte have five more of framing
const DRAIN_BYTES = 64 * 1024; // the rest of a discarded body that is cheaper to read than a new connection
const DRAIN_MS = 500;

/** What is known of a request on its way. */
interface Running extends ExchangeOptions {
  resolve(result: Answer | HttpFailure | Unsent): void;
  sendBy: number;
  headers: [name: string, value: string][];
  controller?: Dispatcher.DispatchController;
  sentAt?: number;
  answeredAt?: number;
  endedAt?: number;
  version: "1.0" | "1.1";
  /** Raw bytes of the head, then of the body, and how many there may be. */
  raw: number;
  rawMax: number;
  stopHeadersTimer?: () => void;
  body?: Incoming;
  /** Why we ended it ourselves. */
  cause?: Cause;
}

function handlerOf(running: Running): Dispatcher.DispatchHandler {
  const { clock, limits, connection } = running;
  return {
    onRequestStart(controller) {
      // undici writes the request as soon as this returns.
      running.controller = controller;
      const now = clock.now();
      if (now > running.sendBy) {
        controller.abort(new Error("sendBy has passed"));
        return;
      }
      connection.tap = tapOf(running);
      running.stopHeadersTimer = clock.after(limits.headersMs, () =>
        cut(running, { reason: "timeout", detail: `no headers within ${limits.headersMs} ms` }),
      );
      running.sentAt = clock.now();
    },
    onResponseStart(_controller, status, _headers, statusText) {
      if (status < 200) {
        cut(running, { reason: "protocol", detail: `status ${status} was not asked for` });
        return;
      }
      running.stopHeadersTimer?.();
      running.raw = 0;
      running.rawMax = Number.POSITIVE_INFINITY;
      running.body = incoming({ pause: connection.hold, resume: connection.flow });
      running.resolve(answerOf(running, running.body, { status, statusText: statusText ?? "" }));
    },
    onResponseData: (_controller, chunk) => running.body?.push(chunk),
    onResponseEnd() {
      if (connection.socket.errored !== null) {
        // undici takes a reset for the regular end of a body that has no length.
        failed(running, connection.socket.errored);
        return;
      }
      running.endedAt = clock.now();
      running.time.stop();
      running.body?.end();
      // undici decides only after this whether the connection stands.
      queueMicrotask(() => running.settle(true));
    },
    onResponseError: (_controller, error) => failed(running, error),
  };
}

/** Sees the raw bytes: finds the answer's beginning, and ends heads and framings that undici does not count. */
function tapOf(running: Running): (chunk: Buffer) => Buffer {
  const overflow = () => cut(running, { reason: "header-bytes", detail: "the interim answers are too long" });
  const head = answerHead(running.limits.headerBytes, {
    onStart(version) {
      running.version = version;
      running.answeredAt = running.clock.now();
    },
    onOverflow: overflow,
  });
  return (chunk) => {
    if (running.raw > running.rawMax) {
      cut(running, { reason: running.body ? "reset" : "header-bytes", detail: "more framing than content", framing: true });
      return empty;
    }
    const rest = head.pass(chunk);
    running.raw += rest.length;
    return rest;
  };
}

const empty = Buffer.alloc(0);

/** Ends the exchange from our side; what awaits it hears the cause. */
function cut(running: Running, cause: Cause): void {
  if (running.endedAt !== undefined) return;
  running.cause ??= cause;
  if (running.controller !== undefined) running.controller.abort(new Error(cause.detail));
  else running.connection.end();
}

function failed(running: Running, error: unknown): void {
  if (running.endedAt !== undefined) return;
  const endedAt = running.clock.now();
  running.endedAt = endedAt;
  running.stopHeadersTimer?.();
  running.time.stop();
  running.settle(false);
  const cause = running.cause ?? causeOf(error);
  if (running.body !== undefined) running.body.end(cutOf(cause));
  else if (running.sentAt !== undefined) running.resolve({ ok: false, ...told(cause), sentAt: running.sentAt, endedAt });
  else if (cause.ours) running.resolve({ ok: false, ...told(cause), endedAt });
  else running.resolve({ ok: false, reason: "unsent" });
}

function told({ reason, detail }: Cause): Pick<HttpFailure, "reason" | "detail"> {
  return { reason, detail };
}

function answerOf(running: Running, body: Incoming, line: { status: number; statusText: string }): Answer {
  const headers = pairs(running.controller?.rawHeaders);
  const bodiless = line.status === 204 || line.status === 304; // RFC 9110 6.4.1, whatever Content-Length says
  let taken = false;
  return {
    ok: true,
    ...line,
    httpVersion: running.version,
    headers,
    requestHeaders: running.headers,
    sentAt: running.sentAt ?? 0,
    answeredAt: running.answeredAt ?? running.clock.now(),
    async body(limits: BodyLimits): Promise<Body | BodyFailure> {
      try {
        if (taken) throw new BodyCut("body-reset", "the body was read before");
        taken = true;
        running.raw = 0;
        running.rawMax = FRAMING_SHARE * limits.wireBytes + HEAD_SHARE * running.limits.headerBytes;
        const bytes = bodiless ? new Uint8Array() : await readBody(body, headers, limits);
        return { ok: true, bytes, wireBytes: body.wireBytes(), endedAt: endOf(running) };
      } catch (error) {
        const [reason, detail] =
          error instanceof BodyCut ? [error.reason, error.message] : ["encoding" as const, messageOf(error)];
        cut(running, { reason: "reset", detail });
        return { ok: false, reason, detail, wireBytes: body.wireBytes(), endedAt: endOf(running) };
      }
    },
    discard() {
      if (taken) return;
      taken = true;
      if (running.endedAt === undefined) drain(running, body, contentLength(headers));
    },
  };
}

function endOf(running: Running): number {
  return running.endedAt ?? running.clock.now();
}

/** Reads a short rest so that the connection can be kept; ends a long one. */
function drain(running: Running, body: Incoming, length: number | undefined): void {
  const end = () => cut(running, { reason: "reset", detail: "discarded" });
  if (length !== undefined && length - body.wireBytes() > DRAIN_BYTES) {
    end();
    return;
  }
  const stop = running.clock.after(DRAIN_MS, end);
  body.drop();
  void body.gather(body.wireBytes() + DRAIN_BYTES).then(() => {
    stop();
    end();
  });
}

function pairs(raw: unknown): [name: string, value: string][] {
  const flat = Array.isArray(raw) ? raw.map((part: Buffer | string) => part.toString("latin1" as never)) : [];
  return Array.from({ length: flat.length >> 1 }, (_, index) => [flat[2 * index]!, flat[2 * index + 1]!]);
}
