// How do events reach BigQuery? Each as a message whose body is the row, on a topic of its kind; a BigQuery subscription does the rest.
import type { Events } from "../../ports/events.ts";
import type { EventKind } from "../../schemas/events.ts";
import { eventLine } from "../objects/event-line.ts";
import type { PubsubClient } from "../queues/pubsub-client.ts";
import type { PubsubNames } from "../queues/pubsub-names.ts";
import { type PubsubPublisher, pubsubPublisher } from "../queues/pubsub-publisher.ts";

export interface PubsubEventsOptions {
  client: PubsubClient;
  /** Of pubsubNames(). */
  names: PubsubNames["events"];
}

/** At least once, in no promised order. Columns are named as the event's fields (schemas/tables); times stay Unix ms. */
export function pubsubEvents({ client, names }: PubsubEventsOptions): Events {
  const publishers: Readonly<Record<EventKind, PubsubPublisher>> = {
    fetch: pubsubPublisher(client, names.fetch.topic),
    index: pubsubPublisher(client, names.index.topic),
    skip: pubsubPublisher(client, names.skip.topic),
  };
  return {
    async publish(kind, events) {
      if (events.length > 0) await publishers[kind].publish(events.map((event) => Buffer.from(eventLine(kind, event))));
    },
    async close() {
      await Promise.all(Object.values(publishers).map((publisher) => publisher.close()));
    },
  };
}
