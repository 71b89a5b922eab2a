// One request and its answer by HTTP/1.1 (RFC 9112): undici's parser, bounded where it does not count.
import type { Dispatcher } from "undici";
import { answerHead } from "./answer-head.ts";
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
import { causeOf } from "./failure.ts";
import type { Http1Connection } from "./http1-connection.ts";
import { requestHeaders } from "./request-headers.ts";

/** Never rejects. */
export function http1Exchange(connection: Http1Connection, request: Request, options: ExchangeOptions): Promise<Sent> {
  return new Promise((resolve) => {
    const headers = requestHeaders(options.host, request.headers);
    const running: Running1 = {
      ...options,
      connection,
      resolve,
      sendBy: request.sendBy,
      headers,
      version: "1.1",
      raw: 0,
      rawMax: HEAD_SHARE * options.limits.headerBytes,
      abort(detail) {
        if (running.controller !== undefined) running.controller.abort(new Error(detail));
        else connection.end();
      },
      reading(limits) {
        running.raw = 0;
        running.rawMax = FRAMING_SHARE * limits.wireBytes + HEAD_SHARE * options.limits.headerBytes;
      },
    };
    options.time.whenOver(() => cut(running, { reason: "timeout", detail: "the request's time ended" }));
    try {
      connection.client.dispatch({ method: "GET", path: options.path, headers: headers.flat() }, handlerOf(running));
    } catch (error) {
      failed(running, causeOf(error));
    }
  });
}

const HEAD_SHARE = 3; // raw bytes for each one that undici counts in names and values: separators, line ends, the reason phrase
const FRAMING_SHARE = 8; // raw bytes for each byte of the wire limit: chunks of one byte have five more of framing

interface Running1 extends Running {
  connection: Http1Connection;
  controller?: Dispatcher.DispatchController;
  version: "1.0" | "1.1";
  /** Raw bytes of the head, then of the body, and how many there may be. */
  raw: number;
  rawMax: number;
}

function handlerOf(running: Running1): Dispatcher.DispatchHandler {
  const { connection } = running;
  return {
    onRequestStart(controller) {
      // undici writes the request as soon as this returns.
      running.controller = controller;
      if (leaves(running)) connection.tap = tapOf(running);
      else controller.abort(new Error("sendBy has passed"));
    },
    onResponseStart(controller, status, _headers, statusText) {
      if (status < 200) {
        cut(running, { reason: "protocol", detail: `status ${status} was not asked for` });
        return;
      }
      running.raw = 0;
      running.rawMax = Number.POSITIVE_INFINITY;
      const line = { status, statusText: statusText ?? "", httpVersion: running.version };
      answered(running, line, pairs(controller.rawHeaders), { pause: connection.hold, resume: connection.flow });
    },
    onResponseData: (_controller, chunk) => running.body?.push(chunk),
    onResponseEnd() {
      if (connection.socket.errored !== null) {
        // undici takes a reset for the regular end of a body that has no length.
        failed(running, causeOf(connection.socket.errored));
        return;
      }
      ended(running);
      // undici decides only after this whether the connection stands.
      queueMicrotask(() => {
        connection.tap = undefined;
        running.settle(true);
      });
    },
    onResponseError: (_controller, error) => failed(running, causeOf(error)),
  };
}

/** Sees the raw bytes: finds the answer's beginning, and ends heads and framings that undici does not count. */
function tapOf(running: Running1): (chunk: Buffer) => Buffer {
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

function pairs(raw: unknown): [name: string, value: string][] {
  const flat = Array.isArray(raw) ? raw.map((part: Buffer | string) => part.toString("latin1" as never)) : [];
  return Array.from({ length: flat.length >> 1 }, (_, index) => [flat[2 * index]!, flat[2 * index + 1]!]);
}
