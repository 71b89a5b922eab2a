// What does an engine do wrong? Bundles that fail at their very end and run again, bundles committed and run again, timers off their time.
import type { StateCell } from "../../beam/dofn.ts";
import type { AnyDefinition } from "../../beam/pardo.ts";
import type { FrontierState } from "../../core/frontier/state.ts";
import { hits, type Weather } from "./faults.ts";

const TWICE = 0.05;
const AGAIN = 0.05;
const EARLY = 0.2;
const EARLY_MS = 50;
const TIMER_LATE_MS = 30_000;

/** As the engine calls it, whatever its form. */
interface LooseDoFn {
  setup?(): unknown;
  startBundle?(): unknown;
  process(element: unknown, context: LooseContext): unknown;
  onTimer?(family: string, context: LooseContext): unknown;
  finishBundle?(context: LooseContext): unknown;
  teardown?(): unknown;
}

interface LooseContext {
  key?: string;
  emit(output: string, value: unknown): void;
  afterCommit(run: () => void | Promise<void>): void;
  state?(cell: string): StateCell<unknown>;
  setTimer?(family: string, at: number): void;
  clearTimer?(family: string): void;
}

type See = (state: FrontierState) => void;

/** `see` is told of each state that a frontier writes. */
export function faultyDefinition(definition: AnyDefinition, weather: Weather, see: See): AnyDefinition {
  if (definition.form === "source") return definition;
  const keyed = definition.form === "keyed";
  const { plan } = weather;
  const faulty = plan["bundles-twice"] > 0 || plan["bundles-again"] > 0 || plan["timers-twice"] > 0;
  if (!keyed && !faulty) return definition;
  const make = (config: unknown, services: unknown): LooseDoFn => {
    const doFn = definition.make(config, services) as unknown as LooseDoFn;
    const seen = keyed ? withWatchedContext(doFn, weather, see) : doFn;
    return faulty ? withRepeats(seen, weather) : seen;
  };
  return { ...definition, make } as unknown as AnyDefinition;
}

function withWatchedContext(doFn: LooseDoFn, weather: Weather, see: See): LooseDoFn {
  return {
    ...lifecycle(doFn),
    process: (element, context) => doFn.process(element, new WatchedContext(context, weather, see)),
    onTimer: (family, context) => doFn.onTimer?.(family, new WatchedContext(context, weather, see)),
    finishBundle: (context) => doFn.finishBundle?.(context),
  };
}

function lifecycle(doFn: LooseDoFn): Pick<LooseDoFn, "setup" | "startBundle" | "teardown"> {
  return {
    setup: () => doFn.setup?.(),
    startBundle: () => doFn.startBundle?.(),
    teardown: () => doFn.teardown?.(),
  };
}

/** Elements of one instance, or of one key, that may come again. */
const KEPT = 16;
const KEYS_KEPT = 1_000;

/**
 * Two forms of a bundle that is run twice. One fails at its very end, so that nothing of it is kept and all of it runs again. The other
 * is committed, and later its elements come again, to the state as it is then: what an engine does that is restored from a checkpoint
 * which is older than what its sinks have seen.
 */
function withRepeats(doFn: LooseDoFn, weather: Weather): LooseDoFn {
  const memory = new Map<string, unknown[]>();
  const { plan } = weather;

  async function again(context: LooseContext): Promise<void> {
    const key = context.key ?? "";
    const elements = memory.get(key);
    if (elements === undefined || !hits(weather, "bundles-again", AGAIN)) return;
    memory.delete(key);
    for (const element of elements) await doFn.process(element, context);
  }

  function remember(element: unknown, context: LooseContext): void {
    const key = context.key ?? "";
    context.afterCommit(() => {
      const elements = memory.get(key) ?? [];
      elements.push(element);
      if (elements.length > KEPT) elements.shift();
      memory.set(key, elements);
      if (memory.size > KEYS_KEPT) memory.delete(memory.keys().next().value!);
    });
  }

  return {
    ...lifecycle(doFn),
    async process(element, context) {
      if (plan["bundles-again"] > 0) {
        await again(context);
        remember(element, context);
      }
      await doFn.process(element, context);
    },
    async onTimer(family, context) {
      await doFn.onTimer?.(family, context);
      if (hits(weather, "timers-twice", TWICE)) await doFn.onTimer?.(family, context);
    },
    async finishBundle(context) {
      await doFn.finishBundle?.(context);
      if (hits(weather, "bundles-twice", TWICE)) throw new Error("the bundle runs again, as the seed has it");
    },
  };
}

/** Passes on what it is told, timers early or late, and shows the states that are written. */
class WatchedContext implements LooseContext {
  readonly key: string;
  readonly #inner: LooseContext;
  readonly #weather: Weather;
  readonly #see: See;

  constructor(inner: LooseContext, weather: Weather, see: See) {
    this.key = inner.key!;
    this.#inner = inner;
    this.#weather = weather;
    this.#see = see;
  }

  emit(output: string, value: unknown): void {
    this.#inner.emit(output, value);
  }

  afterCommit(run: () => void | Promise<void>): void {
    this.#inner.afterCommit(run);
  }

  state(name: string): StateCell<unknown> {
    const cell = this.#inner.state!(name);
    return {
      get: () => cell.get(),
      clear: () => cell.clear(),
      set: (value) => {
        this.#see(value as FrontierState);
        cell.set(value);
      },
    };
  }

  setTimer(family: string, at: number): void {
    const early = hits(this.#weather, "timers-early", EARLY) ? this.#weather.draw.whole(1, EARLY_MS) : 0;
    const late = hits(this.#weather, "timers-late", TWICE) ? this.#weather.draw.whole(1, TIMER_LATE_MS) : 0;
    this.#inner.setTimer!(family, at - early + late);
  }

  clearTimer(family: string): void {
    this.#inner.clearTimer!(family);
  }
}
