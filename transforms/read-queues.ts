// How do messages enter the graph? Unbounded sources over the queue port; a message is acknowledged when its bundle is committed.
import { keyed } from "../beam/coders.ts";
import type { Outputs, SourceDefinition, SourceDoFn } from "../beam/dofn.ts";
import { type Codec, decode, struct, type TypeOf, uint } from "../schemas/codec.ts";
import { limits } from "../schemas/limits.ts";
import { discoverMessage, type HostQueueMessage, hostMessage, hostQueueMessage, reparseMessage } from "../schemas/messages.ts";
import type { CrawlServices, Queues } from "./services.ts";

/** How long an empty queue is left alone when no arrival wakes it: arrivals are hints, so one may be missed. */
const IDLE_POLL_MS = 30_000;

export const sweepRequest = struct({ shard: uint });
export type SweepRequest = TypeOf<typeof sweepRequest>;

export const readDiscover: SourceDefinition<{ messages: typeof discoverMessage }, object, CrawlServices> = {
  form: "source",
  name: "ReadDiscover",
  outputs: { messages: discoverMessage },
  make: (_config, services) =>
    queueSource(services, "discover", discoverMessage, (message, emit) => emit.emit("messages", message)),
};

const hostOutputs = { messages: keyed(hostMessage), sweeps: sweepRequest };

export const readHost: SourceDefinition<typeof hostOutputs, object, CrawlServices> = {
  form: "source",
  name: "ReadHost",
  outputs: hostOutputs,
  make: (_config, services) =>
    queueSource<HostQueueMessage, typeof hostOutputs>(services, "host", hostQueueMessage, (message, emit) => {
      if (message.kind === "sweep") emit.emit("sweeps", { shard: message.shard });
      else emit.emit("messages", { key: message.message.paceKey, value: message.message });
    }),
};

export const readReparse: SourceDefinition<{ messages: typeof reparseMessage }, object, CrawlServices> = {
  form: "source",
  name: "ReadReparse",
  outputs: { messages: reparseMessage },
  make: (_config, services) =>
    queueSource(services, "reparse", reparseMessage, (message, emit) => emit.emit("messages", message)),
};

type Emit<O extends Outputs> = Parameters<SourceDoFn<O>["poll"]>[0];

function queueSource<M, O extends Outputs>(
  { queues, log, metrics }: CrawlServices,
  name: keyof Queues,
  codec: Codec<M>,
  give: (message: M, emit: Emit<O>) => void,
): SourceDoFn<O> {
  const queue = queues[name];
  return {
    watch: (wake) => queue.onArrival(wake),
    async poll(context) {
      const messages = await queue.pull(limits.queuePull);
      if (messages.length === 0) return IDLE_POLL_MS;
      const poison: string[] = [];
      for (const { id, body } of messages) {
        try {
          give(decode(codec, body), context);
        } catch (error) {
          poison.push(id);
          metrics.count("gleaner_poison_messages_total", 1, { queue: name });
          log("error", "a message of a queue is not readable and is set aside", { queue: name, id, cause: String(error) });
        }
      }
      if (poison.length > 0) await queue.setAside(poison);
      const sound = messages.filter(({ id }) => !poison.includes(id));
      context.afterCommit(() => queue.acknowledge(sound.map(({ id }) => id)));
      return messages.length < limits.queuePull ? IDLE_POLL_MS : 0;
    },
  };
}
