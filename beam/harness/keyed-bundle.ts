// How are the keys of a bundle worked on? One call after another within a key, side by side across keys, with one state and one set of timers each.
import type { Keyed, KeyedDoFn, Outputs } from "../dofn.ts";
import { Fifo } from "../embedded/fifo.ts";
import { isPromise } from "../embedded/instances.ts";
import type { AnyKeyedDefinition } from "../pardo.ts";
import type { Bundle } from "./bundle.ts";
import { KeyContext } from "./key-context.ts";
import { type CellStore, KeyState } from "./key-state.ts";
import type { Frame } from "./messages.ts";
import { FRAME_BYTES_MAX } from "./sink-frames.ts";
import type { TimerFamily } from "./stage-plan.ts";
import type { FiredTimer, TimerSetting } from "./timer-frames.ts";
import { type Header, timeOf } from "./windowed.ts";
import { WireWriter } from "./wire-bytes.ts";

type State = Record<string, unknown>;
type AnyKeyedDoFn = KeyedDoFn<unknown, Outputs, State, State>;
type Call = () => void | Promise<void>;

/** A key in this bundle. */
export interface Key {
  readonly key: string;
  readonly state: KeyState;
  /** By family: what the bundle's end tells the runner. */
  timers: Map<string, TimerSetting> | undefined;
  /** Families whose timer has fired in this bundle, so that the runner has none. */
  fired: Set<string> | undefined;
  busy: boolean;
  /** Calls that wait for their turn. */
  waiting: Fifo<Call> | undefined;
}

export interface KeyedOptions {
  step: number;
  definition: AnyKeyedDefinition;
  families: ReadonlyMap<string, TimerFamily>;
  store: CellStore;
}

export class KeyedBundle {
  readonly #options: KeyedOptions;
  readonly #keys = new Map<string, Key>();

  constructor(options: KeyedOptions) {
    this.#options = options;
  }

  element(bundle: Bundle, header: Header, { key, value }: Keyed<unknown>): void {
    const doFn = bundle.instances[this.#options.step] as unknown as AnyKeyedDoFn;
    const of = this.#key(key);
    this.#run(bundle, of, () => doFn.process(value, new KeyContext(this.#options, bundle, of, header)));
  }

  /** Not delivered where the bundle has set or cleared the timer before its turn came. */
  timer(bundle: Bundle, family: string, { key, header }: FiredTimer): void {
    // Prism lets a timer of processing time fire that was cleared: as of 1970, which none of ours holds.
    if (timeOf(header) === 0 && !this.#options.families.get(family)!.eventTime) return;
    const doFn = bundle.instances[this.#options.step] as unknown as AnyKeyedDoFn;
    const of = this.#key(key);
    this.#run(bundle, of, () => {
      of.fired ??= new Set();
      of.fired.add(family);
      if (of.timers?.has(family)) return undefined;
      if (doFn.onTimer === undefined) throw new Error(`the timer '${family}' fired, and the DoFn has no onTimer`);
      return doFn.onTimer(family, new KeyContext(this.#options, bundle, of, header));
    });
  }

  /** Writes what has changed; rejects where the runner refuses any of it. */
  async flush(): Promise<void> {
    const answers: Promise<void>[] = [];
    for (const { state } of this.#keys.values()) {
      const room = answers.length > 0 ? this.#options.store.plane().room() : undefined;
      if (room !== undefined) await room;
      for (const answer of state.flush()) {
        answer.catch(() => undefined); // told of below; until then it must not count as unheard
        answers.push(answer);
      }
    }
    await Promise.all(answers);
  }

  settle(committed: boolean): void {
    for (const { state } of this.#keys.values()) state.settle(committed);
  }

  /** The settings of all keys, and the end of each family. */
  *timerFrames(instruction: string): Iterable<Frame> {
    const { store, families } = this.#options;
    for (const [family, { coder, eventTime }] of families) {
      const writer = new WireWriter();
      const frame = (last: boolean): Frame => ({
        ...{ instruction, transform: store.transform, family, bytes: writer.take(), last },
      });
      for (const { timers, fired } of this.#keys.values()) {
        const setting = timers?.get(family);
        // Not cleared where there is none: Prism lets a cleared timer of processing time fire at once, and so on in a circle.
        if (setting === undefined || (setting.fireAt === undefined && fired?.has(family))) continue;
        // Beam lets no timer of event time hold a time after its own.
        const holdAt = eventTime ? Math.min(setting.holdAt, setting.fireAt ?? setting.holdAt) : setting.holdAt;
        coder.write(writer, { ...setting, holdAt });
        if (writer.length >= FRAME_BYTES_MAX) yield frame(false);
      }
      if (writer.length > 0) yield frame(false);
      yield frame(true);
    }
  }

  #key(key: string): Key {
    let known = this.#keys.get(key);
    if (known === undefined) {
      known = {
        key,
        state: new KeyState(this.#options.store, key),
        timers: undefined,
        fired: undefined,
        busy: false,
        waiting: undefined,
      };
      this.#keys.set(key, known);
    }
    return known;
  }

  #run(bundle: Bundle, key: Key, call: Call): void {
    if (!key.busy) {
      this.#call(bundle, key, call);
      return;
    }
    bundle.began();
    key.waiting ??= new Fifo();
    key.waiting.push(call);
  }

  #call(bundle: Bundle, key: Key, call: Call): void {
    if (bundle.failure !== undefined) return;
    try {
      const result = call();
      if (!isPromise(result)) return;
      key.busy = true;
      const done = () => this.#done(bundle, key);
      bundle.follow(
        this.#options.step,
        result.then(done, (error) => this.#failed(bundle, key, error)),
      );
    } catch (error) {
      bundle.failIn(this.#options.step, error);
    }
  }

  #failed(bundle: Bundle, key: Key, error: unknown): void {
    bundle.failIn(this.#options.step, error);
    this.#done(bundle, key);
  }

  /** The key's next calls, as far as none of them waits for anything. */
  #done(bundle: Bundle, key: Key): void {
    key.busy = false;
    while (!key.busy && key.waiting !== undefined && key.waiting.length > 0) {
      this.#call(bundle, key, key.waiting.shift()!);
      bundle.ended();
    }
  }
}
