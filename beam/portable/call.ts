// How long does a call of a runner's service take at most, and what is said of one that fails? It names the endpoint, the call and the cause.
import type { Clock } from "../../ports/clock.ts";
import { type ClientUnaryCall, grpc, type ServiceError } from "./sdk.ts";

/** A runner's service refused, could not be reached, or did not answer in time. */
export class RunnerError extends Error {
  /** gRPC's status code (grpc.status). */
  readonly code: number;

  constructor(endpoint: string, call: string, { code, details }: Pick<ServiceError, "code" | "details">) {
    super(`${call} at ${endpoint}: ${grpc.status[code] ?? code}: ${details}`);
    this.name = "RunnerError";
    this.code = code;
  }
}

export interface Callee {
  /** host:port */
  readonly endpoint: string;
  readonly clock: Clock;
}

type Answered<T> = (error: ServiceError | null, value?: T) => void;

/** The answer to one call, which is broken off after `withinMs`. Rejects with RunnerError. */
export function unary<T>(
  { endpoint, clock }: Callee,
  call: string,
  withinMs: number,
  start: (answered: Answered<T>) => ClientUnaryCall,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let late = false;
    const started = start((error, value) => {
      callOff();
      const silent = { code: grpc.status.DEADLINE_EXCEEDED, details: `no answer within ${withinMs / 1000} s` };
      if (error === null) resolve(value as T);
      else reject(new RunnerError(endpoint, call, late ? silent : error));
    });
    // Counted by our own clock: gRPC's deadlines are times of the wall, which may be set.
    const callOff = clock.after(withinMs, () => {
      late = true;
      started.cancel();
    });
  });
}

/** Answers of runners are small but for the metrics of a long pipeline; gRPC's own limit is 4 MiB. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export const channelOptions = {
  // Runners are near; the proxy is for the web.
  "grpc.enable_http_proxy": 0,
  "grpc.max_receive_message_length": ANSWER_BYTES_MAX,
  // Else a client inherits the back-off of one before it, which found no server there.
  "grpc.use_local_subchannel_pool": 1,
} as const;
