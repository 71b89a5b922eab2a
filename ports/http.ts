// One request to one server, in the steps that politeness needs: connect, then send within a time, then the headers, then the body.
import type { BodyEnd, FailureReason } from "../schemas/reasons.ts";

export interface Http {
  /**
   * Resolves the host of `url`, refuses addresses that the guard forbids, and connects to exactly the address that was checked, or
   * takes a kept connection to the same origin. Sends nothing (TLS aside). Never throws.
   */
  connect(url: string, limits: RequestLimits): Promise<Connected | HttpFailure>;
  /** Ends idle connections; those in use end by themselves. */
  close(): Promise<void>;
}

export interface RequestLimits {
  /** From connect() on, in all. */
  totalMs: number;
  headersMs: number;
  headerBytes: number;
}

export interface HttpFailure {
  ok: false;
  reason: FailureReason;
  /** For people: what the system said, without secrets. Of `tls` the fault comes first, as in "tls-expired: the certificate …". */
  detail: string;
  /** Unix ms; undefined where the request was not sent. */
  sentAt?: number;
  endedAt: number;
}

export interface Connected {
  ok: true;
  /** The address connected to, as text. */
  address: string;
  /**
   * Sends a GET whose first byte leaves before `sendBy` (Unix ms) or not at all. No redirect is followed, nothing is retried. Ends
   * the connection's use; call exactly one of send() and release().
   */
  send(request: { headers: Record<string, string>; sendBy: number }): Promise<Answer | HttpFailure | Unsent>;
  /** Gives the connection back unused. */
  release(): void;
}

/** `sendBy` passed, or the kept connection had gone, before a byte left. */
export interface Unsent {
  ok: false;
  reason: "unsent";
}

export interface Answer {
  ok: true;
  status: number;
  statusText: string;
  httpVersion: "1.0" | "1.1" | "2";
  /** Names as received, in order, repeated ones repeated. */
  headers: [name: string, value: string][];
  /** The headers that were sent, in order. */
  requestHeaders: [name: string, value: string][];
  sentAt: number;
  /** First byte of the answer. */
  answeredAt: number;
  /** Reads the whole body, decoded from its content coding. Once; either this or discard(). Never throws. */
  body(limits: BodyLimits): Promise<Body | BodyFailure>;
  /** Ends the answer without its body. */
  discard(): void;
}

export interface BodyLimits {
  /** Before and after content decoding. */
  wireBytes: number;
  decodedBytes: number;
  /**
   * For bodies whose beginning is worth something: is given the first decoded bytes, at most `decodedBytes`, before the failure for
   * one of these two limits is returned. Not called where the body ends by time or by a fault.
   */
  keep?(beginning: Uint8Array): void;
}

export interface Body {
  ok: true;
  /** After transfer and content decoding. */
  bytes: Uint8Array;
  wireBytes: number;
  endedAt: number;
}

export interface BodyFailure {
  ok: false;
  reason: BodyEnd;
  detail: string;
  wireBytes: number;
  endedAt: number;
}
