// What are a crawl's topics and subscriptions called, and what do they promise?
import { StoreError } from "../../ports/versioned-table.ts";
import type { EventKind } from "../../schemas/events.ts";

type QueueName = "discover" | "host" | "reparse";

/** Full names: projects/…/topics/…, projects/…/subscriptions/…. */
export interface TopicAndSubscription {
  topic: string;
  subscription: string;
}

export interface QueueTopic extends TopicAndSubscription {
  name: QueueName;
  /** The topic to which messages go that fail often. */
  deadLetter: string;
}

export interface EventTopic extends TopicAndSubscription {
  /** The topic's second: the same events once more, as files in the crawl's bucket. */
  filesSubscription: string;
}

export interface PubsubNames {
  queues: Readonly<Record<QueueName, QueueTopic>>;
  events: Readonly<Record<EventKind, EventTopic>>;
  /** One for all: each message tells where it comes from. */
  dead: TopicAndSubscription;
}

/** A worker that dies gives its messages back after this. Leases are moved on three times within it. */
export const ACK_DEADLINE_SECONDS = 30;

/** The service takes 5 to 100. A crawl that is stopped gives back messages that nobody tried, which counts: so not the least. */
export const DELIVERIES_MAX = 20;

const DAY_SECONDS = 24 * 60 * 60;

/** What is not acknowledged is lost then: the longest that the service keeps it, and that the Cloud SDK's emulator takes. */
export const RETENTION_SECONDS = 31 * DAY_SECONDS;
export const RETENTION_SECONDS_EMULATED = 7 * DAY_SECONDS;

const MIB = 1024 * 1024;

/**
 * How Pub/Sub writes events into the bucket: a line of JSON each, in objects PREFIX KIND /dt= TIME _UUID SUFFIX where the daily pipeline looks
 * for a day's files. The time is that at which the object was begun, UTC, and sorts as it reads.
 */
export const EVENT_FILES = {
  prefixOf: (kind: EventKind): string => `events/${kind}/dt=`,
  datetimeFormat: "YYYY-MM-DD/hh_mm_ssZ",
  suffix: ".ndjson",
  /** A day's last events are there soon after midnight; objects at every minute, the least there is, would be five times as many to be read. */
  secondsMax: 300,
  /** Gets there before the time does at some thousand events a second; a worker reads an object alone, in seconds. */
  bytesMax: 256 * MIB,
} as const;

/** Messages are not acknowledged before their object is whole: the service refuses a deadline that ends sooner. It takes 600 at most. */
export const FILES_ACK_DEADLINE_SECONDS = EVENT_FILES.secondsMax;

/** https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names, of which these leave room for what is added. */
const PREFIX = /^(?!goog)[A-Za-z][\w.~-]{0,199}$/;

/** Throws StoreError (final) where `prefix` cannot begin a name. */
export function pubsubNames(project: string, prefix: string): PubsubNames {
  if (!PREFIX.test(prefix)) throw badPrefix(prefix);
  const named = (name: string): TopicAndSubscription => ({
    topic: `projects/${project}/topics/${prefix}-${name}`,
    subscription: `projects/${project}/subscriptions/${prefix}-${name}`,
  });
  const dead = named("dead");
  const queue = (name: QueueName): QueueTopic => ({ name, ...named(name), deadLetter: dead.topic });
  const event = (kind: EventKind): EventTopic => {
    const { subscription: filesSubscription } = named(`events-${kind}-files`);
    return { ...named(`events-${kind}`), filesSubscription };
  };
  return {
    queues: { discover: queue("discover"), host: queue("host"), reparse: queue("reparse") },
    events: { fetch: event("fetch"), index: event("index"), skip: event("skip") },
    dead,
  };
}

function badPrefix(prefix: string): StoreError {
  const shown = JSON.stringify(prefix.slice(0, 50));
  return new StoreError(
    `${shown} cannot begin the names of Pub/Sub topics: take a letter, then letters, digits and - . _ ~, at most 200, not beginning with goog`,
    { final: true },
  );
}
