// How do messages enter the graph? Unbounded sources over the queue port; a message is acknowledged when its bundle is committed.
import { keyed } from "../beam/coders.ts";
import type { DoFnDefinition, Emitter, Outputs, SourceDefinition, SourceDoFn } from "../beam/dofn.ts";
import { messageBody } from "../beam/portable/pubsub-reads.ts";
import { type Codec, decode, struct, type TypeOf, uint } from "../schemas/codec.ts";
import { limits } from "../schemas/limits.ts";
import { discoverMessage, hostMessage, hostQueueMessage, reparseMessage } from "../schemas/messages.ts";
import type { CrawlServices, Queues } from "./services.ts";

/** How long an empty queue is left alone when no arrival wakes it: arrivals are hints, so one may be missed. */
const IDLE_POLL_MS = 30_000;

export const sweepRequest = struct({ shard: uint });
export type SweepRequest = TypeOf<typeof sweepRequest>;

/** What a queue carries, and which elements each message becomes. */
interface Contents<C extends Codec<unknown>, O extends Outputs> {
  queue: keyof Queues;
  codec: C;
  outputs: O;
  give(message: TypeOf<C>, to: Emitter<O>): void;
}

const ofDiscover = contents({
  queue: "discover",
  codec: discoverMessage,
  outputs: { messages: discoverMessage },
  give: (message, to) => to.emit("messages", message),
});

const ofHost = contents({
  queue: "host",
  codec: hostQueueMessage,
  outputs: { messages: keyed(hostMessage), sweeps: sweepRequest },
  give(message, to) {
    if (message.kind === "sweep") to.emit("sweeps", { shard: message.shard });
    else to.emit("messages", { key: message.message.paceKey, value: message.message });
  },
});

const ofReparse = contents({
  queue: "reparse",
  codec: reparseMessage,
  outputs: { messages: reparseMessage },
  give: (message, to) => to.emit("messages", message),
});

export const readDiscover = source("ReadDiscover", ofDiscover);
export const readHost = source("ReadHost", ofHost);
export const readReparse = source("ReadReparse", ofReparse);

/** Each stands for the source of its queue where the runner reads the messages itself, and acknowledges them. */
export const decodeDiscover = decoder("DecodeDiscover", ofDiscover);
export const decodeHost = decoder("DecodeHost", ofHost);
export const decodeReparse = decoder("DecodeReparse", ofReparse);
/** By which a worker finds them, whatever its runner. */
export const queueDecoders = [decodeDiscover, decodeHost, decodeReparse] as const;

/** For the types that it finds. */
function contents<C extends Codec<unknown>, O extends Outputs>(given: Contents<C, O>): Contents<C, O> {
  return given;
}

function source<C extends Codec<unknown>, O extends Outputs>(
  name: string,
  given: Contents<C, O>,
): SourceDefinition<O, object, CrawlServices> {
  return { form: "source", name, outputs: given.outputs, make: (_config, services) => queueSource(services, given) };
}

function queueSource<C extends Codec<unknown>, O extends Outputs>(
  services: CrawlServices,
  given: Contents<C, O>,
): SourceDoFn<O> {
  const queue = services.queues[given.queue];
  return {
    watch: (wake) => queue.onArrival(wake),
    async poll(context) {
      const messages = await queue.pull(limits.queuePull);
      if (messages.length === 0) return IDLE_POLL_MS;
      const poison: string[] = [];
      for (const { id, body } of messages) {
        try {
          take(given, body, context);
        } catch (error) {
          poison.push(id);
          sayUnreadable(services, given.queue, "is set aside", { id, cause: String(error) });
        }
      }
      if (poison.length > 0) await queue.setAside(poison);
      const sound = messages.filter(({ id }) => !poison.includes(id));
      context.afterCommit(() => queue.acknowledge(sound.map(({ id }) => id)));
      return messages.length < limits.queuePull ? IDLE_POLL_MS : 0;
    },
  };
}

/** Of a message that nobody can set aside: enough to see what it is. */
const HEAD_BYTES = 256;

function decoder<C extends Codec<unknown>, O extends Outputs>(
  name: string,
  given: Contents<C, O>,
): DoFnDefinition<Uint8Array, O, object, CrawlServices> {
  return {
    ...{ form: "each", name, input: messageBody(given.codec), outputs: given.outputs },
    make: (_config, services) => ({
      process(body, context) {
        try {
          take(given, body, context);
        } catch (error) {
          // To fail would bring it again and again, and a drain would never end. What it asked for is found again: by links, sweeps, marks.
          const head = Buffer.from(body.subarray(0, HEAD_BYTES)).toString("base64");
          sayUnreadable(services, given.queue, "is left out", { bytes: body.length, head, cause: String(error) });
        }
      },
    }),
  };
}

/** Throws CodecError where the body is no message of the queue. */
function take<C extends Codec<unknown>, O extends Outputs>({ codec, give }: Contents<C, O>, body: Uint8Array, to: Emitter<O>) {
  give(decode(codec, body) as TypeOf<C>, to);
}

function sayUnreadable({ log, metrics }: CrawlServices, queue: string, fate: string, more: Record<string, unknown>): void {
  metrics.count("gleaner_poison_messages_total", 1, { queue });
  log("error", `a message of a queue is not readable and ${fate}`, { queue, ...more });
}
