// What becomes of bundles on each engine? A source's end with their rest after its delay, they are finalised after their end, and a failing one is tried again.
import type { BundleContext, Outputs, SourceDefinition } from "../../../beam/dofn.ts";
import { systemClock } from "../../../io/clock.ts";
import { each, keyedWord, keyedWords, keyedWordsDoFn, sink, type Word, word } from "../../beam/lib.ts";
import type { Case } from "./case.ts";

const clock = systemClock();

const POLLS = 4;
const DELAY_MS = 1000;
/** An engine's clock and ours, and a timer that fires a little early. */
const EARLY_MS = 50;

const source: Case = {
  name: "a source is polled again after the delay that it asked for, and all that it gives comes",
  expected: Array.from({ length: POLLS }, (_, poll) => [`${poll} came`, ...(poll > 0 ? [`poll ${poll} in time`] : [])]).flat(),
  make(tell) {
    let polls = 0;
    let last = 0;
    const ticks: SourceDefinition<{ out: typeof word }, object, unknown> = {
      ...{ form: "source", name: "source-ticks", outputs: { out: word } },
      make: () => ({
        async poll(context) {
          const [now, poll] = [clock.now(), polls++];
          if (poll > 0 && poll < POLLS)
            tell(`poll ${poll} ${now - last >= DELAY_MS - EARLY_MS ? "in time" : `after ${now - last} ms`}`);
          last = now;
          if (poll < POLLS) context.emit("out", { word: String(poll) });
          return DELAY_MS;
        },
      }),
    };
    const into = sink("source-told", word, (one: Word) => tell(`${one.word} came`));
    return {
      definitions: [ticks, into],
      build: (p) => void p.each("Told", into, {}, p.reshuffle("Spread", p.source("Source", ticks, {}).out)),
    };
  },
};

const finalisation: Case = {
  name: "afterCommit runs once the bundle has ended, of a source, of a DoFn and of one with keys",
  expected: ["source committed", "each committed after its bundle", "keyed committed after its bundle"],
  make(tell) {
    let given = false;
    const one: SourceDefinition<{ out: typeof keyedWord }, object, unknown> = {
      ...{ form: "source", name: "final-source", outputs: { out: keyedWord } },
      make: () => ({
        async poll(context) {
          if (!given) {
            given = true;
            for (const element of keyedWords(["a", "1"])) context.emit("out", element);
            context.afterCommit(() => tell("source committed"));
          }
          return DELAY_MS;
        },
      }),
    };
    /** Of the bundle that the element is in. */
    const ended: Record<"each" | "keyed", boolean | undefined> = { each: undefined, keyed: undefined };
    const began = (name: keyof typeof ended, context: Pick<BundleContext<Outputs>, "afterCommit">) => {
      ended[name] = false;
      context.afterCommit(() => tell(`${name} committed ${ended[name] ? "after" : "before"} its bundle`));
    };
    const finish = (name: keyof typeof ended) => ({
      finishBundle() {
        if (ended[name] === false) ended[name] = true;
      },
    });
    const codecs = { in: keyedWord, out: keyedWord };
    const plain = each(
      "final-each",
      codecs,
      (element, emit, context) => {
        began("each", context);
        emit(element);
      },
      () => finish("each"),
    );
    const keyed = keyedWordsDoFn("final-keyed", (_word, context) => began("keyed", context));
    const finishing: typeof keyed = {
      ...keyed,
      make: (...given) => ({ ...keyed.make(...given), ...finish("keyed") }),
    };
    return {
      definitions: [one, plain, finishing],
      build(p) {
        const spread = p.reshuffle("Spread", p.source("Source", one, {}).out);
        p.keyed("Keyed", finishing, {}, p.each("Each", plain, {}, spread).out);
      },
    };
  },
};

const failing: Case = {
  name: "a bundle that fails leaves no state, no timer, no output and no afterCommit, and is tried again",
  failsWith: "no luck, this once",
  expected: ["a has 1", "a is acknowledged", "a came 2"],
  make(tell) {
    let tries = 0;
    let acknowledged = false;
    // As a queue does: what was not acknowledged comes again.
    const queue: SourceDefinition<{ out: typeof keyedWord }, object, unknown> = {
      ...{ form: "source", name: "failing-queue", outputs: { out: keyedWord } },
      make: () => ({
        async poll(context) {
          if (!acknowledged) for (const element of keyedWords(["a", "1"])) context.emit("out", element);
          return DELAY_MS;
        },
      }),
    };
    const doFn = keyedWordsDoFn(
      "failing",
      async (_word, context) => {
        const attempt = ++tries;
        const memo = context.state("memo");
        const count = ((await memo.get())?.count ?? 0) + 1;
        memo.set({ count });
        if (attempt === 1) context.setTimer("bell", clock.now());
        context.emit("out", { key: context.key, value: { word: `${attempt}` } });
        context.afterCommit(() => {
          acknowledged = true;
          tell(attempt === 1 ? "a failed try is acknowledged" : "a is acknowledged");
        });
        if (attempt === 1) throw new Error("no luck, this once");
        if (attempt === 2) tell(`a has ${count}`);
      },
      () => tell("a failed try has set a timer"),
    );
    const into = sink("failing-told", keyedWord, ({ key, value }) => {
      if (value.word < "3") tell(`${key} came ${value.word}`);
    });
    return {
      definitions: [queue, doFn, into],
      build(p) {
        const kept = p.keyed("Keyed", doFn, {}, p.source("Source", queue, {}).out);
        p.each("Told", into, {}, p.reshuffle("Spread", kept.out));
      },
    };
  },
};

export const bundleCases: readonly Case[] = [source, finalisation, failing];
