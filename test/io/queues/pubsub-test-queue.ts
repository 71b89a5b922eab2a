// A queue on an emulator of Pub/Sub, for tests: under a crawl's name of its own, with waits as short as the emulators take.
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openPubsub, type PubsubClient, type PubsubClientOptions } from "../../../io/queues/pubsub-client.ts";
import { type PubsubNames, pubsubNames } from "../../../io/queues/pubsub-names.ts";
import { type PubsubQueue, type PubsubQueueOptions, pubsubQueue } from "../../../io/queues/pubsub-queue.ts";
import { type SetUpPubsubOptions, setUpPubsub } from "../../../io/queues/pubsub-setup.ts";
import type { Log, LogLevel } from "../../../ports/log.ts";
import type { QueueMessage } from "../../../ports/queue.ts";

export const PROJECT = "test-project";
/** The emulators answer a second before the call's time is over, or half a second after its start. */
const POLL_MS = 1_100;

export interface Told {
  level: LogLevel;
  message: string;
  fields: Readonly<Record<string, unknown>>;
}

export interface TestCrawl {
  client: PubsubClient;
  prefix: string;
  names: PubsubNames;
  /** What the log was told. */
  told: Told[];
  /** Opens the `host` queue; closed after the test, unless it is before. */
  open(options?: Partial<PubsubQueueOptions>): PubsubQueue;
}

let crawls = 0;

/** An own client at `endpoint`, and topics and subscriptions set up. All is closed after the test. */
export async function testCrawl(
  context: Pick<TestContext, "after">,
  endpoint: string,
  options: Partial<SetUpPubsubOptions & PubsubClientOptions> = {},
): Promise<TestCrawl> {
  const prefix = `crawl-${process.pid}-${++crawls}`;
  const setUp = await openPubsub({ project: PROJECT, endpoint });
  await setUpPubsub({ client: setUp, prefix, ...options }).finally(() => setUp.close());
  const client = await openPubsub({ project: PROJECT, endpoint, retryMs: options.retryMs ?? 20_000 });
  const queues: PubsubQueue[] = [];
  context.after(async () => {
    await Promise.all(queues.map((queue) => queue.close()));
    await client.close();
  });
  const names = pubsubNames(PROJECT, prefix);
  const told: Told[] = [];
  const log: Log = (level, message, fields = {}) => void told.push({ level, message, fields });
  const open = (more: Partial<PubsubQueueOptions> = {}): PubsubQueue => {
    const queue = pubsubQueue({ client, names: names.queues.host, log, pollMs: POLL_MS, ...more });
    queues.push(queue);
    return queue;
  };
  return { client, prefix, names, told, open };
}

/** Pulls, at most `max` at once and all in all `count`, until they came or the time is over. */
export async function pulledFrom(queue: PubsubQueue, count: number, withinMs: number, max = count): Promise<QueueMessage[]> {
  const until = Date.now() + withinMs;
  const messages: QueueMessage[] = [];
  while (messages.length < count && Date.now() < until) {
    const some = await queue.pull(Math.min(max, count - messages.length));
    messages.push(...some);
    if (some.length === 0) await pause(10);
  }
  return messages;
}

export function texts(messages: readonly QueueMessage[]): string[] {
  return messages.map(({ body }) => Buffer.from(body).toString()).sort();
}
