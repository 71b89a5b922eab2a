// When is the service asked for messages? Always once at a time while there is room, by a call that waits for the first to come.
import type { protos } from "@google-cloud/pubsub";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { StoreError } from "../../ports/versioned-table.ts";
import type { PubsubClient } from "./pubsub-client.ts";
import { codeOf, pubsubFault } from "./pubsub-faults.ts";
import type { Delivery } from "./pubsub-leases.ts";

export interface PullOptions {
  client: PubsubClient;
  /** Full name. */
  subscription: string;
  clock: Clock;
  log: Log;
  /** How long one call may wait; above 1000, since the service is to answer before that and not be cut off with messages on the way. */
  pollMs: number;
  /** How many more messages there is room for, now. */
  room: () => number;
  arrived: (deliveries: Delivery[]) => void;
  /** The service cannot be asked, for the first time since it last answered. */
  failed: (error: StoreError) => void;
}

export interface Pulling {
  /** Messages are wanted, or there may be room again. Nothing is asked of the service before the first call. */
  look(): void;
  /** Why nothing comes, and since when (Unix ms); undefined where the last call was answered. */
  fault(): { error: StoreError; since: number } | undefined;
  /** Resolves when the last call is over. */
  close(): Promise<void>;
}

const AGAIN_MS = 500; // after a failure; doubles
const AGAIN_MS_MAX = 5_000;
const EMPTY_MS = 20; // after an answer without messages: some come at once
const DEADLINE_EXCEEDED = 4; // the call's time ran out: nothing came

export function pulling(options: PullOptions): Pulling {
  const { clock, log, subscription, room, arrived, failed } = options;
  let fault: { error: StoreError; since: number } | undefined;
  let againMs = AGAIN_MS;
  let closed = false;
  let wake: () => void = () => undefined;

  /** Until it is woken, or `ms` have passed. */
  async function wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const callOff = ms === Number.POSITIVE_INFINITY ? () => undefined : clock.after(ms, resolve);
    wake = resolve;
    await promise;
    wake = () => undefined;
    callOff();
  }

  function answered(): void {
    if (fault !== undefined) log("info", "Pub/Sub answers again", { subscription, afterMs: clock.now() - fault.since });
    fault = undefined;
    againMs = AGAIN_MS;
  }

  async function refusedBy(error: unknown): Promise<void> {
    const told = pubsubFault(error, { project: options.client.project, subscription, doing: "pull from" });
    const since = fault?.since ?? clock.now();
    const first = fault?.error.message !== told.message;
    fault = { error: told, since };
    if (first) {
      log("warn", "no messages can be pulled; asking on", { cause: told.message });
      failed(told);
    }
    const waitMs = againMs;
    againMs = Math.min(againMs * 2, AGAIN_MS_MAX);
    const until = clock.now() + waitMs;
    while (!closed && clock.now() < until) await wait(until - clock.now());
  }

  async function run(): Promise<void> {
    while (!closed) {
      const max = room();
      if (max <= 0) {
        await wait(Number.POSITIVE_INFINITY);
        continue;
      }
      try {
        const deliveries = await pullOnce(options, max);
        answered();
        if (deliveries.length > 0) arrived(deliveries);
        else if (!closed) await wait(EMPTY_MS);
      } catch (error) {
        if (!closed) await refusedBy(error);
      }
    }
  }

  let over: Promise<void> | undefined; // nobody has asked for a message before that: whoever only publishes takes none from others
  return {
    look() {
      over ??= run();
      wake();
    },
    fault: () => fault,
    close() {
      closed = true;
      wake();
      return over ?? Promise.resolve();
    },
  };
}

/** No messages where none came in time. */
async function pullOnce({ client, subscription, pollMs }: PullOptions, maxMessages: number): Promise<Delivery[]> {
  try {
    // Never repeated by the client: an answer that is lost leaves its messages leased until their deadline either way.
    const [answer] = await client.subscriber.pull({ subscription, maxMessages }, { timeout: pollMs, retry: null });
    return (answer.receivedMessages ?? []).map(delivery);
  } catch (error) {
    if (codeOf(error) === DEADLINE_EXCEEDED) return [];
    throw error;
  }
}

function delivery({ ackId, message, deliveryAttempt }: protos.google.pubsub.v1.IReceivedMessage): Delivery {
  const { seconds, nanos } = message?.publishTime ?? {};
  return {
    ackId: ackId ?? "",
    messageId: message?.messageId ?? "",
    publishedAt: `${seconds ?? 0}.${String(nanos ?? 0).padStart(9, "0")}`,
    body: bytesOf(message?.data),
    attempts: deliveryAttempt ?? 0,
  };
}

/** A copy: what gRPC gives is a view of a larger answer, and would keep all of it. */
function bytesOf(data: Uint8Array | string | null | undefined): Uint8Array {
  return typeof data === "string" ? Buffer.from(data, "base64") : new Uint8Array(data ?? []);
}
