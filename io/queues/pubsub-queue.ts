// A queue on a Pub/Sub subscription: at least once, leased for as long as this process keeps it, dead-lettered when it fails often.
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Queue } from "../../ports/queue.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { systemClock } from "../clock.ts";
import { wholeCount } from "../stores/checks.ts";
import { arrivals } from "./arrivals.ts";
import type { PubsubClient } from "./pubsub-client.ts";
import { deadLetters } from "./pubsub-dead-letters.ts";
import { codeOf, pubsubFault } from "./pubsub-faults.ts";
import { type Delivery, leases } from "./pubsub-leases.ts";
import { ACK_DEADLINE_SECONDS, DELIVERIES_MAX, type QueueTopic } from "./pubsub-names.ts";
import { pubsubPublisher } from "./pubsub-publisher.ts";
import { pulling } from "./pubsub-pull.ts";
import { subscriptionCalls } from "./pubsub-subscription.ts";

export interface PubsubQueueOptions {
  client: PubsubClient;
  /** Of pubsubNames(). */
  names: QueueTopic;
  log: Log;
  clock?: Clock;
  /** A message that was delivered more often is set aside, in case the service has not done it. */
  deliveriesMax?: number;
  /** The subscription's own. */
  ackDeadlineSeconds?: number;
  /** How long one call waits for a first message, and how long a close may take. */
  pollMs?: number;
  /** How long a service that does not answer is taken for an empty queue. */
  outageMs?: number;
}

export interface PubsubQueue extends Queue {
  /** Gives back what is held, waits for what is under way. After it publish, pull, acknowledge and release reject with StoreError. */
  close(): Promise<void>;
}

const WAITING_MAX = 128; // fetched ahead: two pulls of a source (limits.queuePull)
const HELD_MAX = 1000; // leases in all; Google's client has the same
const HELD_BYTES_MAX = 64 * 1024 * 1024; // and one answer more, 10 MB at most
const NOT_FOUND = 5; // of google.rpc.Code
const POLL_MS = 3_000;
const OUTAGE_MS = 60_000;

export function pubsubQueue(options: PubsubQueueOptions): PubsubQueue {
  const { client, names, log, clock = systemClock(), outageMs = OUTAGE_MS } = options;
  const { deliveriesMax = DELIVERIES_MAX, ackDeadlineSeconds = ACK_DEADLINE_SECONDS } = options;
  const publisher = pubsubPublisher(client, names.topic);
  const service = subscriptionCalls(client, names.subscription);
  const spent = deadLetters({ client, names, log, service, deliveriesMax });
  const held = leases();
  const arrived = arrivals();
  const settling = new Set<Promise<void>>(); // calls that nobody else waits for
  let closing: Promise<void> | undefined;

  const pull = pulling({
    client,
    subscription: names.subscription,
    clock,
    log,
    pollMs: options.pollMs ?? POLL_MS,
    room: () => (held.bytes < HELD_BYTES_MAX ? Math.min(WAITING_MAX - held.waiting, HELD_MAX - held.size) : 0),
    arrived: receive,
    failed: (error) => {
      if (codeOf(error.cause) === NOT_FOUND) held.gone();
      arrived.tell(); // so that who waits for messages hears of it
    },
  });
  const stopExtending = every(clock, (ackDeadlineSeconds * 1000) / 3, extend);

  function receive(deliveries: Delivery[]): void {
    const again: string[] = [];
    let fresh = 0;
    for (const delivery of deliveries) {
      if (spent.isSpent(delivery)) settle(spent.setAside(delivery));
      else if (held.add(delivery, clock.now()) === "done") again.push(delivery.ackId);
      else fresh++;
      spent.tellLast(delivery);
    }
    if (again.length > 0) settle(service.acknowledge(again, client.once)); // an acknowledgement was lost
    if (fresh > 0) arrived.tell();
  }

  function settle(call: Promise<void>): void {
    const settled: Promise<void> = call
      .catch((error) => log("warn", "Pub/Sub did not take a note on messages; they come again", { cause: String(error) }))
      .finally(() => settling.delete(settled));
    settling.add(settled);
  }

  let extending = false;
  function extend(): void {
    const had = held.size;
    const ackIds = held.lasting(clock.now());
    if (had > 0) pull.look(); // what has lasted too long has made room
    if (ackIds.length === 0 || extending) return;
    extending = true;
    const extended = service.modify(ackIds, ackDeadlineSeconds, client.once);
    settle(extended.finally(() => (extending = false)));
  }

  function mustBeOpen(): void {
    if (closing !== undefined) throw new StoreError(`the queue ${names.name} is closed`);
  }

  async function acknowledge(ids: readonly string[]): Promise<void> {
    mustBeOpen();
    const ackIds = held.acknowledge(ids);
    pull.look();
    await service.acknowledge(ackIds, client.repeated);
    held.acknowledged(ids);
  }

  async function close(): Promise<void> {
    await Promise.all([pull.close(), publisher.close()]);
    stopExtending();
    settle(service.modify(held.clear(), 0, client.once));
    await Promise.all(settling);
  }

  return {
    async publish(bodies) {
      mustBeOpen();
      if (bodies.length > 0) held.published(await publisher.publish(bodies), clock.now());
    },
    async pull(max) {
      mustBeOpen();
      const messages = held.take(wholeCount(max));
      pull.look();
      const fault = messages.length === 0 ? pull.fault() : undefined;
      if (fault !== undefined && (fault.error.final || clock.now() - fault.since >= outageMs)) throw fault.error;
      return messages;
    },
    acknowledge,
    async setAside(ids) {
      mustBeOpen();
      const kept = held.deliveries(ids).map((delivery) => spent.keep(delivery, client.repeated));
      const { project } = client;
      await Promise.all(kept).catch((error) => {
        throw pubsubFault(error, { project, topic: names.deadLetter, doing: "publish to" });
      });
      await acknowledge(ids);
    },
    async release(ids) {
      mustBeOpen();
      const ackIds = held.release(ids);
      pull.look();
      await service.modify(ackIds, 0, client.repeated);
    },
    depth: async () => held.known(clock.now()) + publisher.pending(),
    onArrival(wake) {
      pull.look();
      return arrived.on(wake);
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function every(clock: Clock, ms: number, run: () => void): () => void {
  let callOff = clock.after(ms, tick);
  function tick(): void {
    callOff = clock.after(ms, tick);
    run();
  }
  return () => callOff();
}
