// Who finds what a lost wake, timer or job has left behind? Sweeps of all shards, which whoever launches a crawl asks for every few minutes.
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { encode } from "../schemas/codec.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { limits } from "../schemas/limits.ts";
import { hostQueueMessage } from "../schemas/messages.ts";
import type { Queues } from "../transforms/services.ts";
import { repeat } from "./repeat.ts";

interface Sweeping {
  clock: Clock;
  log: Log;
  queues: Pick<Queues, "host">;
}

/** Every overdue host is woken. Rejects with StoreError. */
export async function sweepAll({ queues }: Pick<Sweeping, "queues">, { sweepShards }: Pick<CrawlConfig, "sweepShards">) {
  const shards = Array.from({ length: sweepShards }, (_, shard) => encode(hostQueueMessage, { kind: "sweep", shard }));
  await queues.host.publish(shards);
}

/** Not now, but every few minutes from now on. Returns a function that ends it. */
export function keepSweeping(ports: Sweeping, config: Pick<CrawlConfig, "sweepShards">): () => void {
  const rhythm = { everyMs: limits.sweepMs, failed: "a sweep could not be asked for" };
  return repeat(ports, rhythm, () => sweepAll(ports, config));
}
