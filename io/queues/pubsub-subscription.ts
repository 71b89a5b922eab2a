// How are the messages of a subscription acknowledged, and how are their deadlines moved? In calls of a size that the service takes.
import type { CallOptions } from "@google-cloud/pubsub";
import type { PubsubClient } from "./pubsub-client.ts";
import { type Asked, pubsubFault } from "./pubsub-faults.ts";

const ACK_IDS_MAX = 1000; // of one call: 512 KiB, and an ackId has about 200 bytes

export interface SubscriptionCalls {
  acknowledge(ackIds: readonly string[], how: CallOptions): Promise<void>;
  modify(ackIds: readonly string[], ackDeadlineSeconds: number, how: CallOptions): Promise<void>;
}

/** Reject with StoreError. */
export function subscriptionCalls({ subscriber, project }: PubsubClient, subscription: string): SubscriptionCalls {
  const asked: Asked = { project, subscription, doing: "acknowledge to" };
  const call = async (ackIds: readonly string[], send: (some: string[]) => Promise<unknown>): Promise<void> => {
    for (let from = 0; from < ackIds.length; from += ACK_IDS_MAX) {
      try {
        await send(ackIds.slice(from, from + ACK_IDS_MAX));
      } catch (error) {
        throw pubsubFault(error, asked);
      }
    }
  };
  return {
    acknowledge: (all, how) => call(all, (ackIds) => subscriber.acknowledge({ subscription, ackIds }, how)),
    modify: (all, ackDeadlineSeconds, how) =>
      call(all, (ackIds) => subscriber.modifyAckDeadline({ subscription, ackIds, ackDeadlineSeconds }, how)),
  };
}
