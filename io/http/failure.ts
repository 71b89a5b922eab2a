// Why did a request end without an answer, or an answer without its end? undici's and Node's errors, in our words.
import { errors } from "undici";
import type { FailureReason } from "../../schemas/reasons.ts";
import { BodyCut } from "./incoming.ts";
import { tlsFaultOf } from "./tls-fault.ts";

export interface Cause {
  reason: FailureReason;
  /** For people. */
  detail: string;
  /** It holds for the next try too, even where nothing was sent: not `unsent`. */
  final?: boolean;
  /** The body's framing was larger than its content could need. */
  framing?: boolean;
}

/** What an error of undici or of the socket means for the request. */
export function causeOf(error: unknown): Cause {
  const detail = messageOf(error);
  if (error instanceof errors.InvalidArgumentError) return { reason: "protocol", detail: `request: ${detail}`, final: true };
  if (error instanceof errors.HeadersOverflowError) return { reason: "header-bytes", detail: "the headers are too long" };
  if (error instanceof errors.HTTPParserError) return { reason: "protocol", detail };
  if (error instanceof errors.ResponseContentLengthMismatchError) {
    return { reason: "protocol", detail: "the body is not as long as Content-Length says" };
  }
  // undici's SocketError tells these apart by their text alone.
  if (error instanceof errors.SocketError && detail.startsWith("bad ")) return { reason: "protocol", detail };
  if (error instanceof Error && codeOf(error).startsWith("ERR_SSL")) {
    const { fault, text } = tlsFaultOf(error);
    return { reason: "tls", detail: `${fault}: ${text}` };
  }
  return { reason: "reset", detail: error instanceof errors.SocketError ? "closed by the other side" : detail };
}

/** The same, for an answer whose headers have come. */
export function cutOf(cause: Cause): BodyCut {
  if (cause.reason === "timeout") return new BodyCut("body-timeout", cause.detail);
  if (cause.framing || cause.reason === "header-bytes") return new BodyCut("wire-bytes", cause.detail);
  return new BodyCut("body-reset", cause.detail);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || codeOf(error) || error.name : String(error);
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}
