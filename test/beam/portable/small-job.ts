// Does a runner carry our pipelines? The smallest that needs it all: a source, state and a timer under keys, a reshuffle, and a way out.
import type { Keyed, SourceDefinition } from "../../../beam/dofn.ts";
import { startHarness } from "../../../beam/harness/start-harness.ts";
import type { AnyDefinition } from "../../../beam/pardo.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import type { StartWorker } from "../../../beam/portable/worker-arguments.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import type { PipelineProto } from "../../../beam/sdk.ts";
import { systemClock } from "../../../io/clock.ts";
import type { Log } from "../../../ports/log.ts";
import { keyedWord, keyedWordsDoFn, sink, type Word } from "../lib.ts";

const KEYS = 5;
export const WORDS_A_KEY = 3;

/** Each key gets one word a poll, as often as its count says; then polls go on, without words. */
const spell: SourceDefinition<{ out: typeof keyedWord }, object, unknown> = {
  ...{ form: "source", name: "spell", outputs: { out: keyedWord } },
  make: () => {
    let polls = 0;
    return {
      async poll(context) {
        for (let key = 0; key < KEYS && polls < WORDS_A_KEY; key++)
          context.emit("out", { key: `key-${key}`, value: { word: `word-${polls}` } });
        polls += 1;
        return 1000;
      },
    };
  },
};

/** Counts a key's words in state; a timer then tells how many there are. */
const count = keyedWordsDoFn(
  "count",
  async (_value, context) => {
    const memo = context.state("memo");
    memo.set({ count: ((await memo.get())?.count ?? 0) + 1 });
    context.setTimer("bell", systemClock().now() + 50);
  },
  async (_family, context) => {
    const counted = (await context.state("memo").get())?.count ?? 0;
    context.emit("out", { key: context.key, value: { word: `${counted}` } });
  },
);

/** `tell` is called in the worker, with `key counted`. */
export function smallJob(tell: (line: string) => void): { proto: PipelineProto; definitions: AnyDefinition[] } {
  const told = sink("tell", keyedWord, ({ key, value }: Keyed<Word>) => tell(`${key} ${value.word}`));
  const proto = buildPipeline((p) => {
    const { out } = p.source("Spell", spell, {});
    const counted = p.keyed("Count", count, {}, out);
    p.each("Tell", told, {}, p.reshuffle("Spread", counted.out));
  });
  return { proto, definitions: [spell, count, told] };
}

/** Each key's whole count. */
export const whole: readonly string[] = Array.from({ length: KEYS }, (_, key) => `key-${key} ${WORDS_A_KEY}`);

export function harnessOf(definitions: Parameters<typeof dofnRegistry>[0], log: Log): StartWorker {
  return ({ id, controlEndpoint, loggingEndpoint }) =>
    startHarness({
      ...{ id, controlEndpoint, registry: dofnRegistry(definitions), services: undefined },
      ...(loggingEndpoint === undefined ? {} : { loggingEndpoint }),
      clock: systemClock(),
      log,
      metrics: { count: () => undefined, gauge: () => undefined, observe: () => undefined },
    });
}
