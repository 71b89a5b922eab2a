// What passes between a server and node:http2, and when is it too much? RFC 9113 10.5: each frame is looked at, either way.
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Clock } from "../../ports/clock.ts";
import type { Cause } from "./failure.ts";
import { errorCodes, errorName, type Frame, frameFlags, frameReader, frameTypes } from "./http2-frames.ts";

export interface Http2Wire {
  /** What node:http2 takes for its socket. */
  readonly duplex: Duplex;
  readonly passed: Passed;
  /** Begins to count from nothing, for a request or for the time between two. */
  watch(watcher: Watcher): void;
  /** Why nothing passes any more, known somewhat before it is told. */
  fault(): Cause | undefined;
}

/** Since the last watch(). */
export interface Passed {
  /** That of our request once it has left, else 0. */
  stream: number;
  /** Unix ms: when the last header block began to arrive. */
  headAt: number;
  /** Compressed header blocks with their framing; set it back to begin anew. */
  headBytes: number;
  bodyBytes: number;
  /** The answer's last frame has come. */
  ended: boolean;
  /** Frames that carry nothing of an answer. */
  emptyFrames: number;
}

export interface Watcher {
  /** A request is about to leave. Whether it may. */
  leaves(): boolean;
  /** Told once. Nothing passes any more; the connection is to be ended. */
  fault(cause: Cause): void;
}

export interface Http2WireOptions {
  socket: Socket;
  clock: Clock;
  headerBytes: number;
}

export function http2Wire(options: Http2WireOptions): Http2Wire {
  const state: State = { ...options, watcher: nobody, passed: nothing(), begun: false };
  const wire: Http2Wire = {
    duplex: duplexOf(state),
    get passed() {
      return state.passed;
    },
    watch(watcher) {
      state.watcher = watcher;
      state.passed = nothing();
    },
    fault: () => state.fault,
  };
  return wire;
}

const EMPTY_FRAMES = 1000; // an answer of 10 MB takes a few hundred at most: settings, pings that measure the way, windows
const PREFACE_BYTES = 24; // RFC 9113 3.4

interface State extends Http2WireOptions {
  watcher: Watcher;
  passed: Passed;
  /** The server's first frame has come. */
  begun: boolean;
  fault?: Cause;
}

const nobody: Watcher = { leaves: () => false, fault() {} };

function nothing(): Passed {
  return { stream: 0, headAt: 0, headBytes: 0, bodyBytes: 0, ended: false, emptyFrames: 0 };
}

function duplexOf(state: State): Duplex {
  const { socket } = state;
  const received = frameReader(0, (frame) => passes(state, duplex, faultOfReceived(state, frame)));
  const sent = frameReader(PREFACE_BYTES, (frame) => passes(state, duplex, faultOfSent(state, frame)));
  const write = (bytes: Buffer, done: (error?: Error | null) => void) => {
    if (state.fault === undefined && sent(bytes) === bytes.length) socket.write(bytes);
    // Not to be waited for: node:http2 reads nothing meanwhile, and EMPTY_FRAMES bounds what there is to answer.
    done();
  };
  const duplex = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => write(chunk, done),
    writev: (parts: { chunk: Buffer }[], done) => write(Buffer.concat(parts.map(({ chunk }) => chunk)), done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  duplex.on("error", () => {}); // the socket's own is what counts
  socket.on("data", (chunk: Buffer) => {
    const passing = state.fault === undefined ? received(chunk) : 0;
    if (passing > 0 && !duplex.push(chunk.subarray(0, passing))) socket.pause();
  });
  socket.on("end", () => duplex.push(null)).on("close", () => duplex.destroy());
  return duplex;
}

/** Whether the bytes may go on. The fault is told when node:http2 has told what it makes of the bytes before. */
function passes(state: State, duplex: Duplex, cause: Cause | undefined): boolean {
  if (cause === undefined) return true;
  const { watcher } = state;
  state.fault = cause;
  const tell = (turns: number) => {
    if (turns === 0) watcher.fault(cause);
    else setImmediate(tell, duplex.readableLength > 0 ? turns - 1 : 0);
  };
  setImmediate(tell, READ_TURNS);
  return false;
}

const READ_TURNS = 20; // of the event loop: node:http2 takes two or three where it is writing, and never reads without a request

function faultOfReceived(state: State, frame: Frame): Cause | undefined {
  const { passed, headerBytes } = state;
  if (!state.begun && (frame.type !== frameTypes.settings || frame.flags & frameFlags.acknowledged))
    return broken("not HTTP/2");
  state.begun = true;
  const ofAnswer = passed.stream !== 0 && frame.stream === passed.stream && !passed.ended;
  switch (frame.type) {
    case frameTypes.headers:
    case frameTypes.continuation:
      passed.headBytes += FRAME_HEAD_BYTES + frame.bytes;
      if (passed.headBytes > headerBytes) return { reason: "header-bytes", detail: "the headers are too long" };
      if (frame.type === frameTypes.continuation) return undefined;
      if (!ofAnswer) return broken("headers of no request");
      passed.headAt = state.clock.now();
      passed.ended = (frame.flags & frameFlags.endStream) !== 0;
      return undefined;
    case frameTypes.data: {
      if (!ofAnswer) return broken("a body of no request");
      const content = contentOf(frame);
      passed.bodyBytes += content;
      passed.ended = (frame.flags & frameFlags.endStream) !== 0;
      return content > 0 ? undefined : counted(passed);
    }
    case frameTypes.pushPromise:
      return broken("a push, which we have forbidden");
    case frameTypes.reset:
      return ofAnswer ? refused(frame.lead, "reset") : counted(passed);
    case frameTypes.goaway:
      return goawayFault(passed, frame) ?? counted(passed);
    default:
      return counted(passed);
  }
}

const FRAME_HEAD_BYTES = 9;

/** RFC 9113 6.1: without padding. One that is longer than its frame is node:http2's to refuse. */
function contentOf({ flags, bytes, lead }: Frame): number {
  const padding = flags & frameFlags.padded ? 1 + (lead[0] ?? 0) : 0;
  return Math.max(0, bytes - padding);
}

function counted(passed: Passed): Cause | undefined {
  passed.emptyFrames += 1;
  if (passed.emptyFrames <= EMPTY_FRAMES) return undefined;
  return { ...broken("more framing than content"), framing: true };
}

/** RFC 9113 6.8: what we asked is not answered if the server ends with an error, or with an earlier request than ours. */
function goawayFault({ stream, ended }: Passed, { lead }: Frame): Cause | undefined {
  if (lead.length < 8 || ended) return undefined;
  const unanswered = stream === 0 || (lead.readUInt32BE(0) & 0x7fffffff) < stream;
  return unanswered || lead.readUInt32BE(4) !== errorCodes.noError ? refused(lead.subarray(4), "closed") : undefined;
}

function refused(code: Buffer, how: "reset" | "closed"): Cause {
  const number = code.length < 4 ? errorCodes.noError : code.readUInt32BE(0);
  const detail = `${how} by the other side: ${errorName(number)}`;
  return number === errorCodes.http11Required ? broken(detail) : { reason: "reset", detail };
}

/** What node:http2 complains of is the server's fault: we ourselves never reset a stream and say no goodbye. */
function faultOfSent(state: State, { type, stream, lead }: Frame): Cause | undefined {
  if (type === frameTypes.headers) {
    if (!state.watcher.leaves()) return { reason: "reset", detail: "sendBy has passed" };
    state.passed.stream = stream;
    return undefined;
  }
  if (type !== frameTypes.reset && type !== frameTypes.goaway) return undefined;
  const at = type === frameTypes.reset ? 0 : 4;
  const code = lead.length < at + 4 ? errorCodes.noError : lead.readUInt32BE(at);
  if (code === errorCodes.noError) return undefined;
  if (code === errorCodes.enhanceYourCalm) return tooManyHeaders;
  return broken(errorName(code));
}

/** node:http2 resets a stream with this code where its own bounds on headers are passed. */
export const tooManyHeaders: Cause = { reason: "header-bytes", detail: "there are too many headers" };

function broken(detail: string): Cause {
  return { reason: "protocol", detail: `HTTP/2: ${detail}` };
}
