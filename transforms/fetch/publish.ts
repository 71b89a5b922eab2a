// Everything that is found enters by one door: the discover queue, packed.
import { packed } from "../../core/frontier/pack.ts";
import { encode } from "../../schemas/codec.ts";
import { type DiscoverMessage, discoverMessage } from "../../schemas/messages.ts";
import type { CrawlServices } from "../services.ts";

/** Resolves when all messages are durable. */
export async function publishDiscoveries({ queues }: Pick<CrawlServices, "queues">, message: DiscoverMessage): Promise<void> {
  const messages = packed(message);
  if (messages.length > 0) await queues.discover.publish(messages.map((part) => encode(discoverMessage, part)));
}
