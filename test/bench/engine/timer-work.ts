// What is the least that a lease can be? A host that reads its state when its timer fires, writes the next time, sets the timer and gives a lease.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, KeyedDefinition, SourceDefinition } from "../../../beam/dofn.ts";
import type { AnyDefinition } from "../../../beam/pardo.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import { struct, type TypeOf, text, uint } from "../../../schemas/codec.ts";
import type { EngineCase } from "./cases.ts";
import { noLeases, sawLease, type Work } from "./leases.ts";

const page = struct({ url: text });
const named = keyed(page);
const lease = struct({ url: text, at: uint });
const none = {};
const host = struct({ url: text, nextAt: uint });

/** The same work as the prototype's bench in its mode "timer". */
export function timerWork({ hosts, delayMs }: EngineCase): Work {
  const seen = noLeases();
  let given = false;
  const source: SourceDefinition<{ pages: typeof named }, object, unknown> = {
    ...{ form: "source", name: "Pages", outputs: { pages: named } },
    make: () => ({
      async poll(context) {
        for (let number = 0; !given && number < hosts; number++)
          context.emit("pages", { key: `https://h${number}.test`, value: { url: `https://h${number}.test/${number}` } });
        given = true;
        return 1000;
      },
    }),
  };
  const frontier: KeyedDefinition<
    TypeOf<typeof page>,
    { leases: typeof lease },
    { host: TypeOf<typeof host> },
    object,
    unknown
  > = {
    ...{ form: "keyed", name: "Hosts", input: page, outputs: { leases: lease }, state: { host }, timers: ["turn"] },
    make: () => ({
      async process({ url }, context) {
        if ((await context.state("host").get()) !== undefined) return;
        const nextAt = Date.now() + ((Number(/\d+/.exec(context.key)?.[0]) * SPREAD) % delayMs);
        context.state("host").set({ url, nextAt });
        context.setTimer("turn", nextAt);
      },
      async onTimer(_family, context) {
        const before = await context.state("host").get();
        if (before === undefined) return;
        const now = Date.now();
        if (now < before.nextAt) return context.setTimer("turn", before.nextAt); // Prism's may be early
        if (now >= seen.until) return;
        sawLease(seen, now, now - before.nextAt);
        context.state("host").set({ ...before, nextAt: now + delayMs });
        context.emit("leases", { url: before.url, at: now });
        context.setTimer("turn", now + delayMs);
      },
    }),
  };
  const sink: DoFnDefinition<TypeOf<typeof lease>, typeof none, object, unknown> = {
    ...{ form: "each", name: "Sink", input: lease, outputs: none },
    make: () => ({ process: () => {} }),
  };
  const proto = buildPipeline((p) => {
    const { leases } = p.keyed("Hosts", frontier, {}, p.source("Pages", source, {}).pages);
    p.each("Sink", sink, {}, p.reshuffle("Spread", leases));
  });
  return { proto, definitions: [source, frontier, sink] as unknown as readonly AnyDefinition[], services: undefined, seen };
}

/** A prime: hosts begin at times that lie apart. */
const SPREAD = 7919;
