// How is gRPC spoken to a runner on this machine? As messages with a length before them in one HTTP/2 stream (github.com/grpc/grpc, PROTOCOL-HTTP2.md).
import { type ClientHttp2Stream, connect, constants, type IncomingHttpHeaders } from "node:http2";

export interface GrpcCallOptions {
  /** HOST:PORT. */
  endpoint: string;
  /** /package.Service/Method */
  path: string;
  metadata: Readonly<Record<string, string>>;
  /** A view that holds while the chunk that it came in does. May throw: that ends the call. */
  onMessage: (message: Buffer) => void;
  /** Called once, when the call is over for whatever reason. */
  onEnd: (error: Error | undefined) => void;
}

export interface GrpcCall {
  /** Messages of one turn leave together. What is sent after the end is forgotten. */
  send(message: Uint8Array): void;
  /** Undefined where there is room, else what to await before any more is sent. */
  drained(): Promise<void> | undefined;
  pause(): void;
  resume(): void;
  /** Nothing more is sent; the other side is heard on. */
  endSending(): void;
  /** The other side is told that the call is over; it is when it has heard that. */
  cancel(): void;
  /** The call is over now. */
  destroy(): void;
}

/** May wait to be taken by the socket; whoever asks for room gets none beyond. */
const OUTBOUND_BYTES_MAX = 4 * 1024 * 1024;
/** Of a stream and its connection: what the other side sends without hearing from us. The standard's 64 KiB is a turn for each. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** A longer message is a fault, not an element. */
const MESSAGE_BYTES_MAX = 1024 * 1024 * 1024;
const PREFIX_BYTES = 5;

export function startCall({ endpoint, path, metadata, onMessage, onEnd }: GrpcCallOptions): GrpcCall {
  const session = connect(`http://${endpoint}`, {
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    maxSessionMemory: Number.MAX_SAFE_INTEGER, // in MB; a session holds one call, whose messages we count ourselves
  });
  const stream = session.request({
    ...{ ":method": "POST", ":path": path, te: "trailers", "content-type": "application/grpc" },
    ...metadata,
  });
  const outbound = new Outbound(stream);
  const inbound = new Inbound(onMessage);
  /** How the call ended, as the other side tells it. */
  let told: { error: Error | undefined } | undefined;
  let over = false;
  let cancelled = false;

  function end(error: Error | undefined): void {
    if (over) return;
    over = true;
    outbound.stop();
    session.destroy();
    onEnd(error);
  }

  session.on("connect", () => session.setLocalWindowSize(WINDOW_BYTES));
  session.on("error", end);
  session.on("close", () => end(cancelled ? undefined : new Error(`the connection to ${endpoint} was closed`)));
  stream.on("error", end);
  stream.on("response", (headers) => {
    if (headers[":status"] !== 200) end(new Error(`${endpoint} answered with the HTTP status ${headers[":status"]}`));
    else told = statusOf(headers);
  });
  stream.on("trailers", (trailers) => {
    told = statusOf(trailers);
  });
  stream.on("data", (chunk: Buffer) => {
    try {
      inbound.take(chunk);
    } catch (error) {
      end(error as Error);
    }
  });
  // The other side has ended the call; what is left of ours has nobody to go to.
  stream.on("end", () => stream.close());
  stream.on("close", () => {
    const error = told === undefined ? new Error(`${endpoint} broke the call off without a word`) : told.error;
    end(cancelled ? undefined : error);
  });

  return {
    send: (message) => outbound.send(message),
    drained: () => outbound.drained(),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    endSending: () => outbound.end(),
    cancel() {
      cancelled = true;
      // Before the connection goes: some runners take a lost connection for a fault of their own.
      stream.close(constants.NGHTTP2_CANCEL);
    },
    destroy: () => end(undefined),
  };
}

/** One message there, one back. Rejects where the call fails. */
export function unaryCall(
  options: Pick<GrpcCallOptions, "endpoint" | "path" | "metadata">,
  message: Uint8Array,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let answer: Buffer | undefined;
    const call = startCall({
      ...options,
      onMessage(given) {
        answer = given;
      },
      onEnd(error) {
        if (answer !== undefined && error === undefined) resolve(answer);
        else reject(error ?? new Error(`${options.endpoint} gave no answer to ${options.path}`));
      },
    });
    call.send(message);
    call.endSending();
  });
}

class Outbound {
  readonly #stream: ClientHttp2Stream;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #flushing = false;
  #blocked = false;
  #ending = false;
  #stopped = false;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    stream.on("drain", () => {
      this.#blocked = false;
      this.#flush();
    });
  }

  send(message: Uint8Array): void {
    if (this.#stopped || this.#ending) return;
    const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
    prefix[0] = 0; // not compressed
    prefix.writeUInt32BE(message.length, 1);
    this.#parts.push(prefix, message);
    this.#bytes += PREFIX_BYTES + message.length;
    if (this.#flushing || this.#blocked) return;
    this.#flushing = true;
    void Promise.resolve().then(() => this.#flush());
  }

  drained(): Promise<void> | undefined {
    if (this.#stopped || this.#bytes < OUTBOUND_BYTES_MAX) return undefined;
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    if (!this.#blocked) this.#flush();
  }

  stop(): void {
    this.#stopped = true;
    this.#parts = [];
    this.#bytes = 0;
    this.#room?.resolve();
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#stopped) return;
    if (this.#parts.length > 0) {
      this.#blocked = !this.#stream.write(Buffer.concat(this.#parts, this.#bytes));
      this.#parts = [];
      this.#bytes = 0;
      this.#room?.resolve();
      this.#room = undefined;
    }
    if (this.#ending) this.#stream.end();
  }
}

class Inbound {
  readonly #onMessage: (message: Buffer) => void;
  /** Of a message that has not come whole. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #wanted = PREFIX_BYTES;

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  take(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#bytes);
    let at = 0;
    this.#wanted = PREFIX_BYTES;
    while (bytes.length - at >= PREFIX_BYTES) {
      const size = bytes.readUInt32BE(at + 1);
      if (bytes[at] !== 0) throw new Error("the runner sent a compressed message, which nobody asked for");
      if (size > MESSAGE_BYTES_MAX) throw new Error(`the runner sent a message of ${size} bytes`);
      this.#wanted = PREFIX_BYTES + size;
      if (bytes.length - at < this.#wanted) break;
      this.#onMessage(bytes.subarray(at + PREFIX_BYTES, at + this.#wanted));
      at += this.#wanted;
      this.#wanted = PREFIX_BYTES;
    }
    this.#bytes = bytes.length - at;
    this.#parts = this.#bytes > 0 ? [bytes.subarray(at)] : [];
  }
}

/** Undefined where nothing is said. */
function statusOf(headers: IncomingHttpHeaders): { error: Error | undefined } | undefined {
  const status = headers["grpc-status"];
  if (status === undefined) return undefined;
  const words = spelled(String(headers["grpc-message"] ?? ""));
  return { error: status === "0" ? undefined : new Error(`gRPC status ${status}: ${words}`) };
}

/** Percent-encoded UTF-8, where it is well-formed. */
function spelled(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
