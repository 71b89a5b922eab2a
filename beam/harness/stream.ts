// How does the harness talk to one endpoint of the runner? By one long call of messages both ways, which can be held up and ends once.
import type { Clock } from "../../ports/clock.ts";
import { atMost } from "./at-most.ts";
import { type GrpcCall, startCall } from "./grpc-call.ts";

export interface StreamOptions<In, Out> {
  endpoint: string;
  /** Of fnCalls. */
  call: string;
  workerId: string;
  clock: Clock;
  encode: (message: Out) => Uint8Array;
  /** May throw: that ends the stream. */
  decode: (bytes: Buffer) => In;
  /** May throw: that ends the stream. */
  onMessage: (message: In) => void;
  /** Called once: the runner has ended the call, it broke, or it was closed. */
  onEnd: (error: Error | undefined) => void;
}

export interface Stream<Out> extends Pick<GrpcCall, "drained" | "pause" | "resume"> {
  /** Takes every message; a stream that has ended forgets it. */
  send(message: Out): void;
  /** Sends what waits, ends the call, and breaks it off where the runner does not end its side within CLOSE_MS. */
  close(): Promise<void>;
}

const CLOSE_MS = 1000; // what waits is in this machine's sockets; a runner that lives ends its side at once

export function openStream<In, Out>(options: StreamOptions<In, Out>): Stream<Out> {
  const { endpoint, call: path, workerId, clock, encode, decode, onMessage, onEnd } = options;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const call = startCall({
    ...{ endpoint, path, metadata: workerMetadata(workerId) },
    onMessage: (bytes) => onMessage(decode(bytes)),
    onEnd(error) {
      resolve();
      onEnd(error);
    },
  });
  return {
    send: (message) => call.send(encode(message)),
    drained: call.drained,
    pause: call.pause,
    resume: call.resume,
    async close() {
      call.resume();
      call.endSending();
      await atMost(clock, CLOSE_MS, over);
      call.cancel();
      await atMost(clock, CLOSE_MS, over);
      call.destroy();
    },
  };
}

/** Every call of a worker says whose it is. */
export function workerMetadata(workerId: string): { worker_id: string } {
  return { worker_id: workerId };
}
