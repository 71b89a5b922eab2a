// How are keys worked on? One after another within a key, side by side across keys: each bundle is what waits for one key.
import type { Clock } from "../../ports/clock.ts";
import type { Keyed, KeyedDoFn, Outputs } from "../dofn.ts";
import { type AnyKeyedDefinition, keptNames } from "../pardo.ts";
import type { Bundle, Line } from "./bundle.ts";
import { Inbox } from "./inbox.ts";
import { KeyContext, type KeyedStore } from "./key-context.ts";
import { Fired, type Item, type Key, Keys } from "./keys.ts";
import { Bundles, type Runtime, WAIT_MS_MAX } from "./runtime.ts";
import type { Stage } from "./stage.ts";
import { TimerQueue } from "./timers.ts";
import { Passage, startTide } from "./watermarks.ts";

type AnyKeyedDoFn = KeyedDoFn<unknown, Outputs, Record<string, unknown>, Record<string, unknown>>;

/** As many keys may be at work as elements may wait (`stageElements`): a key that is slow costs a place and holds up nobody. */
export function keyedStage(runtime: Runtime, line: Line): Stage {
  const { watermarks } = runtime;
  const passage = watermarks && new Passage<Key>();
  const keys = new Keys(passage && ((key) => passage.came(key)));
  const [timers, eventTimers] = [new TimerQueue<Key>(), new TimerQueue<Key>()];
  /** How far event time has come in here, and how far it has passed on. */
  let [eventTime, passed] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const eventsOver = () => eventTime === Number.POSITIVE_INFINITY;
  const eventsDue = () => (eventTimers.next() ?? Number.NaN) <= eventTime;
  const definition = line.graph.steps[0]!.definition as AnyKeyedDefinition;
  const kept = keptNames(definition);
  /** A job that ends lets event time come to its end first. */
  const ebbed = () =>
    !definition.eventTimers?.length || runtime.ending.state() === undefined || passed === Number.POSITIVE_INFINITY;
  const store: KeyedStore = { definition, kept, timers, eventTimers, eventsOver, checkCodecs: line.checkCodecs };
  const wake = () => runtime.turns.wake(stage);
  const bundles = new Bundles(runtime, line, wake);
  const { stats } = bundles;
  const inbox = new Inbox(runtime.stageElements, (value) => {
    const { key, value: inner } = value as Keyed<unknown>;
    keys.add(key, inner);
    wake();
  });
  // While as many fired timers wait as may, the end of a bundle is what brings the next.
  const mayFire = () => runtime.ending.state() === undefined && keys.fired < runtime.stageElements;
  const alarm = timerAlarm(runtime.clock, wake);
  const arm = () => (mayFire() ? alarm.arm(timers.next()) : undefined);

  function mayStart(): boolean {
    const room = stats.running < runtime.stageElements && stats.settling < runtime.stageElements;
    return keys.ready && room && runtime.ending.state() !== "failed";
  }

  const tide =
    passage &&
    startTide({
      passage,
      come(at) {
        eventTime = at;
        const fired = keys.fire(eventTimers, at, runtime.stageElements);
        if (fired > 0) wake();
        return fired > 0 || eventsDue();
      },
      given(at) {
        passed = at;
        watermarks.given(line.graph, at);
        runtime.ending.changed();
      },
    });

  function start({ key, items, values }: { key: Key; items: Item[]; values: number }): void {
    let context: KeyContext;
    const taken = passage?.taken(key, items.length);
    const feed = (bundle: Bundle) => {
      context = new KeyContext(store, key, bundle);
      return inOrder(bundle.instances[0] as unknown as AnyKeyedDoFn, items, context, bundle);
    };
    void bundles
      .carryOut({
        elements: items.length,
        feed,
        commit: () => {
          context.commit();
          arm();
          if (eventsDue()) tide?.again();
        },
      })
      .then(() => {
        keys.release(key);
        if (taken !== undefined) passage?.left(taken);
        if (key.pending !== undefined) wake();
        runtime.ending.changed();
      });
    if (values > 0) inbox.taken(values);
  }

  const stage: Stage = {
    line,
    inbox,
    step() {
      if (mayFire()) keys.fire(timers, runtime.clock.now(), runtime.stageElements);
      for (let left = runtime.bundleElements; left > 0 && mayStart(); ) {
        const next = keys.take(runtime.bundleElements)!;
        left -= next.items.length;
        start(next);
      }
      arm();
      return mayStart();
    },
    idle: () => bundles.idle,
    quiet: () => inbox.empty && keys.fired === 0 && bundles.idle && !keys.ready && ebbed(),
    nextTimerAt: () => (runtime.ending.state() === undefined ? timers.next() : undefined),
    stats: () => ({
      ...stats,
      ...{ queued: inbox.length, queuedMax: inbox.longest, keys: keys.length },
      timers: timers.length + eventTimers.length,
    }),
    stop: () => alarm.stop(),
    ...(tide && { rise: tide.rise }),
  };
  return stage;
}

/** Calls `ring` once the earliest time it was armed with has come, with one call of the clock at a time. */
function timerAlarm(clock: Clock, ring: () => void) {
  let callOff: (() => void) | undefined;
  let armedFor = Number.POSITIVE_INFINITY;

  function stop(): void {
    callOff?.();
    callOff = undefined;
    armedFor = Number.POSITIVE_INFINITY;
  }

  function arm(at: number | undefined): void {
    if (at === undefined || at >= armedFor) return;
    stop();
    armedFor = at;
    callOff = clock.after(Math.min(at - clock.now(), WAIT_MS_MAX), () => {
      callOff = undefined;
      armedFor = Number.POSITIVE_INFINITY;
      ring();
    });
  }

  return { arm, stop };
}

async function inOrder(doFn: AnyKeyedDoFn, items: readonly Item[], context: KeyContext, bundle: Bundle): Promise<void> {
  for (const item of items) {
    if (bundle.failed) return;
    if (!(item instanceof Fired)) await doFn.process(item, context);
    else if (context.delivers(item)) await onTimer(doFn, item.timer.family, context);
  }
}

async function onTimer(doFn: AnyKeyedDoFn, family: string, context: KeyContext): Promise<void> {
  if (doFn.onTimer === undefined) throw new Error(`the timer '${family}' fired, and the DoFn has no onTimer`);
  await doFn.onTimer(family, context);
}
