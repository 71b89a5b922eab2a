// How do messages reach a topic? In few calls, by the client's batching, with a bound on what is under way.
import type { Topic } from "@google-cloud/pubsub";
import { StoreError } from "../../ports/versioned-table.ts";
import { checkedBody } from "./checked-body.ts";
import type { PubsubClient } from "./pubsub-client.ts";
import { pubsubFault } from "./pubsub-faults.ts";

export interface PubsubPublisher {
  /** The ids that the service gave the messages. Rejects with StoreError, then some of them may have arrived. */
  publish(bodies: readonly Uint8Array[]): Promise<string[]>;
  /** Messages that no answer has come for. */
  pending(): number;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

const BATCH_MESSAGES = 1000; // of one call: the service's own limit
const BATCH_BYTES = 1024 * 1024; // the service takes 10 MB; beyond one, larger calls are not cheaper
const BATCH_MS = 5; // that callers wait for each other
const PENDING_MESSAGES_MAX = 10_000;
const PENDING_BYTES_MAX = 32 * 1024 * 1024;

/** https://cloud.google.com/pubsub/quotas#resource_limits: 10 MB a call, of which names and attributes take some. */
const MESSAGE_BYTES_MAX = 10_000_000 - 10_000;

/** The service refuses a message that has neither data nor attributes. */
const EMPTY = { empty: "true" };

export function pubsubPublisher(client: PubsubClient, topicName: string): PubsubPublisher {
  const topic = client.pubsub.topic(topicName, {
    batching: { maxMessages: BATCH_MESSAGES, maxBytes: BATCH_BYTES, maxMilliseconds: BATCH_MS },
    gaxOpts: client.repeated,
  });
  const pending = { messages: 0, bytes: 0 };
  let settled = signal();
  let closed = false;

  function send(body: Uint8Array): Promise<string> {
    pending.messages++;
    pending.bytes += body.length;
    return published(topic, body).finally(() => {
      pending.messages--;
      pending.bytes -= body.length;
      settled.fire();
      settled = signal();
    });
  }

  return {
    async publish(given) {
      if (closed) throw new StoreError(`the publisher to ${topicName} is closed`);
      const bodies = given.map(checkedBody);
      for (const { length } of bodies) if (length > MESSAGE_BYTES_MAX) throw tooLarge(topicName, length);
      const sent: Promise<string>[] = [];
      for (const body of bodies) {
        while (pending.messages >= PENDING_MESSAGES_MAX || pending.bytes >= PENDING_BYTES_MAX) await settled.fired;
        sent.push(send(body));
        sent.at(-1)!.catch(() => undefined); // it is looked at below, maybe after a wait
      }
      try {
        return await Promise.all(sent);
      } catch (error) {
        await Promise.allSettled(sent);
        throw pubsubFault(error, { project: client.project, topic: topicName, doing: "publish to" });
      }
    },
    pending: () => pending.messages,
    async close() {
      closed = true;
      while (pending.messages > 0) await settled.fired;
    },
  };
}

function published(topic: Topic, body: Uint8Array): Promise<string> {
  return topic.publishMessage(body.length > 0 ? { data: body } : { data: body, attributes: EMPTY });
}

function tooLarge(topicName: string, bytes: number): StoreError {
  return new StoreError(`a message of ${bytes} bytes for ${topicName} is larger than Pub/Sub takes (${MESSAGE_BYTES_MAX})`);
}

function signal(): { fired: Promise<void>; fire: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { fired: promise, fire: resolve };
}
