// What becomes of a message that fails again and again? It is told of, and set aside where the service has not done that.
import type { CallOptions } from "@google-cloud/pubsub";
import type { Log } from "../../ports/log.ts";
import type { PubsubClient } from "./pubsub-client.ts";
import type { Delivery } from "./pubsub-leases.ts";
import type { QueueTopic } from "./pubsub-names.ts";
import type { SubscriptionCalls } from "./pubsub-subscription.ts";

export interface DeadLetters {
  /** Delivered more often than it should be. */
  isSpent(delivery: Delivery): boolean;
  /** Tells of a message that is delivered for the last time. */
  tellLast(delivery: Delivery): void;
  /** What the service's dead-letter policy does, for where it lacks the right to. Rejects where it comes again. */
  setAside(delivery: Delivery): Promise<void>;
  /** Its copy for people. It still comes again until it is acknowledged. Rejects with what the client says. */
  keep(delivery: Delivery, how: CallOptions): Promise<void>;
}

export interface DeadLettersOptions {
  client: PubsubClient;
  names: QueueTopic;
  log: Log;
  service: SubscriptionCalls;
  deliveriesMax: number;
}

export function deadLetters({ client, names, log, service, deliveriesMax }: DeadLettersOptions): DeadLetters {
  const tell = (message: string, { messageId: id, attempts }: Delivery): void =>
    log("error", message, { queue: names.name, id, attempts, keptIn: names.deadLetter });
  async function keep({ body: data, messageId, attempts }: Delivery, how: CallOptions): Promise<void> {
    const attributes = { queue: names.name, messageId, attempts: String(attempts) };
    await client.publisher.publish({ topic: names.deadLetter, messages: [{ data, attributes }] }, how);
  }

  return {
    keep,
    isSpent: ({ attempts }) => attempts > deliveriesMax,
    tellLast(delivery) {
      if (delivery.attempts === deliveriesMax)
        tell("a message of a queue fails again and again: if it does once more, it is set aside", delivery);
    },
    async setAside(delivery) {
      await keep(delivery, client.once);
      await service.acknowledge([delivery.ackId], client.once);
      tell("a message of a queue failed too often and is set aside", delivery);
    },
  };
}
