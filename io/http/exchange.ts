// One request and its answer, whichever HTTP it is: sent in time or not at all, ended by whichever limit comes first.
import type { Clock } from "../../ports/clock.ts";
import type { Answer, Body, BodyFailure, BodyLimits, HttpFailure, RequestLimits, Unsent } from "../../ports/http.ts";
import { contentLength, type RawHeaders, readBody } from "./answer-body.ts";
import type { Countdown } from "./countdown.ts";
import { type Cause, cutOf, messageOf } from "./failure.ts";
import { BodyCut, type Incoming, type IncomingFlow, incoming } from "./incoming.ts";

export interface Request {
  headers: Record<string, string>;
  sendBy: number;
}

export type Sent = Answer | HttpFailure | Unsent;

export interface ExchangeOptions {
  clock: Clock;
  limits: RequestLimits;
  time: Countdown;
  /** The Host header, and path and query. */
  host: string;
  path: string;
  /** Called once, when the network is done with; whether the connection may serve another request. */
  settle(reusable: boolean): void;
}

/** What a protocol does with a request that is on its way. */
export interface Protocol {
  /** Ends it on the network, which failed() follows. */
  abort(detail: string): void;
  /** The reader has come for the body. */
  reading?(limits: BodyLimits): void;
}

/** What is known of a request on its way. */
export interface Running extends ExchangeOptions, Protocol {
  sendBy: number;
  /** Those that are sent. */
  headers: [name: string, value: string][];
  resolve(result: Sent): void;
  sentAt?: number;
  answeredAt?: number;
  endedAt?: number;
  stopTimer?: () => void;
  body?: Incoming;
  /** Why we ended it ourselves. */
  cause?: Cause;
}

export type StatusLine = Pick<Answer, "status" | "statusText" | "httpVersion">;

/** The first byte is about to leave. Whether it may: else the protocol is to see to it that none does. */
export function leaves(running: Running): boolean {
  const { clock, limits } = running;
  const now = clock.now();
  if (now > running.sendBy) return false;
  running.stopTimer?.();
  running.stopTimer = clock.after(limits.headersMs, () =>
    cut(running, { reason: "timeout", detail: `no headers within ${limits.headersMs} ms` }),
  );
  running.sentAt = now;
  return true;
}

/** The headers have come. What comes next is to be pushed into the body that this gives. */
export function answered(running: Running, line: StatusLine, headers: [string, string][], flow: IncomingFlow): Incoming {
  running.stopTimer?.();
  const body = incoming(flow);
  running.body = body;
  running.resolve(answerOf(running, body, line, headers));
  return body;
}

/** The answer has come whole. */
export function ended(running: Running): void {
  running.endedAt = running.clock.now();
  running.time.stop();
  running.body?.end();
}

/** Ends the exchange from our side; what awaits it hears the cause. */
export function cut(running: Running, cause: Cause): void {
  if (running.endedAt !== undefined) return;
  running.cause ??= cause;
  running.abort(cause.detail);
}

/** The network has ended it; `cause` counts where it was not us. */
export function failed(running: Running, cause: Cause): void {
  if (running.endedAt !== undefined) return;
  const endedAt = running.clock.now();
  running.endedAt = endedAt;
  running.stopTimer?.();
  running.time.stop();
  running.settle(false);
  const told = running.cause ?? cause;
  const { reason, detail } = told;
  if (running.body !== undefined) running.body.end(cutOf(told));
  else if (running.sentAt !== undefined) running.resolve({ ok: false, reason, detail, sentAt: running.sentAt, endedAt });
  else if (told.final) running.resolve({ ok: false, reason, detail, endedAt });
  else running.resolve({ ok: false, reason: "unsent" });
}

const DRAIN_BYTES = 64 * 1024; // the rest of a discarded body that is cheaper to read than a new connection
const DRAIN_MS = 500;

function answerOf(running: Running, body: Incoming, line: StatusLine, headers: [string, string][]): Answer {
  const bodiless = line.status === 204 || line.status === 304; // RFC 9110 6.4.1, whatever Content-Length says
  let taken = false;
  return {
    ok: true,
    ...line,
    headers,
    requestHeaders: running.headers,
    sentAt: running.sentAt ?? 0,
    answeredAt: running.answeredAt ?? running.clock.now(),
    async body(limits: BodyLimits): Promise<Body | BodyFailure> {
      try {
        if (taken) throw new BodyCut("body-reset", "the body was read before");
        taken = true;
        running.reading?.(limits);
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
      if (running.endedAt === undefined) drain(running, body, headers);
    },
  };
}

function endOf(running: Running): number {
  return running.endedAt ?? running.clock.now();
}

/** Reads a short rest so that the connection can be kept; ends a long one. */
function drain(running: Running, body: Incoming, headers: RawHeaders): void {
  const end = () => cut(running, { reason: "reset", detail: "discarded" });
  const length = contentLength(headers);
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
