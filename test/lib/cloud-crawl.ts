// What does a crawl with cloud stores leave behind on emulators? Stores set up for a crawl of its own, and its events read back.

import { systemClock } from "../../io/clock.ts";
import { openPubsub } from "../../io/queues/pubsub-client.ts";
import { pubsubNames } from "../../io/queues/pubsub-names.ts";
import { systemRandom } from "../../io/random.ts";
import { setUpCloudStores } from "../../pipelines/stores/cloud-stores.ts";
import { type EventKind, type EventOf, eventShapes } from "../../schemas/events.ts";
import type { Emulators } from "../emulators/start.ts";

export const PROJECT = "test-project";

export interface CloudCrawl {
  crawl: string;
  /** --stores and what goes with it. */
  flags: string[];
}

let crawls = 0;

/** Tables, topics and a bucket under a name of their own. The environment leads to the emulators: `withEnvironment`. */
export async function setUpCrawl(): Promise<CloudCrawl> {
  const crawl = `crawl-${process.pid}-${++crawls}`;
  const place = { project: PROJECT, instance: "gleaner", bucket: `${PROJECT}-${crawl}`, crawl };
  const [clock, random] = [systemClock(), systemRandom()];
  await setUpCloudStores(place, { clock, random, location: "US", say: () => {} });
  return { crawl, flags: ["--stores", "cloud", "--project", PROJECT, "--crawl", crawl] };
}

/** Sets the variables that lead Google's clients to the emulators, in this process and its children; returns what undoes it. */
export function withEnvironment(env: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

const PULL = 1_000; // messages of one call

/** All events of one kind that wait in the crawl's subscription, each once. */
export async function cloudEvents<K extends EventKind>(
  emulators: Emulators,
  { crawl }: CloudCrawl,
  kind: K,
): Promise<EventOf<K>[]> {
  const client = await openPubsub({ project: PROJECT, endpoint: emulators.endpoint("pubsub") });
  const { subscription } = pubsubNames(PROJECT, crawl).events[kind];
  const events = new Map<string, EventOf<K>>();
  try {
    for (;;) {
      const [{ receivedMessages = [] }] = await client.subscriber.pull({
        subscription,
        maxMessages: PULL,
        returnImmediately: true,
      });
      if (receivedMessages === null || receivedMessages.length === 0) break;
      for (const { message } of receivedMessages) {
        const line = Buffer.from(message?.data as Uint8Array).toString();
        const event: unknown = JSON.parse(line);
        const fault = eventShapes[kind].fault(event, "");
        if (fault !== undefined) throw new Error(`a message holds an event that is none: ${fault}`);
        events.set(line, event as EventOf<K>);
      }
      await client.subscriber.acknowledge({ subscription, ackIds: receivedMessages.map(({ ackId }) => ackId ?? "") });
    }
  } finally {
    await client.close();
  }
  return [...events.values()];
}
