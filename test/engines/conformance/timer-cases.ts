// Do timers fire on each engine as they should? Of processing time by the clock, of event time by the source's watermark; set, replaced and cleared.
import { systemClock } from "../../../io/clock.ts";
import { type BagContext, baggedWordsDoFn } from "../../beam/lib.ts";
import { type Case, waves } from "./case.ts";

const clock = systemClock();

const SOON_MS = 300;
/** The second wave has come by then, on a busy machine too. */
const LATE_MS = 5000;
/** Whatever fires wrongly at the late time has fired by then. */
const LAST_MS = 6000;
const RINGS = 3;

const processingTime: Case = {
  name: "a timer of processing time fires by the clock, by its last setting alone, not once it is cleared, and again when it is set anew",
  expected: ["again rings", "again rings", "again rings", "moved rings", "last rings"],
  make(tell) {
    const source = waves("processing-words", [
      [
        ["again", "soon"],
        ["moved", "late"],
        ["cleared", "late"],
        ["last", "last"],
      ],
      [
        ["moved", "soon"],
        ["cleared", "clear"],
      ],
    ]);
    const afterMs: Record<string, number> = { soon: SOON_MS, late: LATE_MS, last: LAST_MS };
    const dueAt = new Map<string, number>();
    const arm = (context: BagContext, delayMs: number) => {
      dueAt.set(context.key, clock.now() + delayMs);
      context.setTimer("horn", dueAt.get(context.key)!);
    };
    const doFn = baggedWordsDoFn(
      "processing",
      ({ word }, context) => (word === "clear" ? context.clearTimer("horn") : arm(context, afterMs[word]!)),
      async (family, context) => {
        const due = dueAt.get(context.key)!;
        // Prism is some milliseconds early.
        if (clock.now() < due) return context.setTimer(family, due);
        tell(`${context.key} rings`);
        const count = ((await context.state("memo").get())?.count ?? 0) + 1;
        context.state("memo").set({ count });
        if (context.key === "again" && count < RINGS) arm(context, SOON_MS);
      },
    );
    return { definitions: [source, doFn], build: (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out) };
  },
};

const eventTime: Case = {
  name: "a timer of event time fires once the watermark has come to it, by its last setting alone, and not once it is cleared",
  expected: ["twice rings at 2000", "twice rings at 4000", "moved rings at 5000", "late rings at 5000"],
  make(tell) {
    const orders: [key: string, word: string][][] = [
      [
        ["twice", "2000"],
        ["moved", "2000"],
        ["late", "5000"],
        ["cleared", "2000"],
        ["never", "7000"],
      ],
      [
        ["moved", "5000"],
        ["cleared", "clear"],
      ],
      [],
      [],
    ];
    const told = [1000, 1000, 3000, 6000];
    const source = waves("event-words", orders, told);
    let polled = 0;
    const polls = {
      ...source,
      make(...given: Parameters<typeof source.make>) {
        const made = source.make(...given);
        const poll: typeof made.poll = (context) => {
          polled++;
          return made.poll(context);
        };
        return { ...made, poll };
      },
    };
    const doFn = baggedWordsDoFn(
      "event",
      ({ word }, context) => {
        if (word === "clear") return context.clearTimer("bell");
        context.state("memo").set({ count: Number(word) });
        context.setTimer("bell", Number(word));
      },
      async (_family, context) => {
        const at = (await context.state("memo").get())!.count;
        const watermark = told[polled - 1] ?? told.at(-1)!;
        tell(`${context.key} rings at ${at}${watermark < at ? `, at ${watermark}` : ""}`);
        if (context.key !== "twice" || at !== 2000) return;
        context.state("memo").set({ count: 4000 });
        context.setTimer("bell", 4000);
      },
    );
    return { definitions: [polls, doFn], build: (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", polls, {}).out) };
  },
};

export const timerCases: readonly Case[] = [processingTime, eventTime];
