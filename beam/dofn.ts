// What is a DoFn to us? The interface that the embedded engine and, on other runners, the SDK harness carry out alike.
import type { AnyCodec, Codec } from "../schemas/codec.ts";

/** An element of a keyed collection: the key decides order and state. */
export interface Keyed<V> {
  key: string;
  value: V;
}

export type Outputs = Record<string, AnyCodec>;

/** What an output of this codec carries. */
type Carried<C> = C extends Codec<infer T> ? T : never;

export interface Emitter<O extends Outputs> {
  /** Gives an element to the output of that name. It leaves when the bundle is committed. */
  emit<K extends keyof O & string>(output: K, value: Carried<O[K]>): void;
}

export interface BundleContext<O extends Outputs> extends Emitter<O> {
  /** Called once after everything the bundle gave is safe downstream: acknowledgements belong here. A failure is logged, never retried. */
  afterCommit(run: () => void | Promise<void>): void;
}

/** One cell of a key's state. Reads see the writes of the same bundle; all are kept when the bundle commits, none when it fails. */
export interface StateCell<T> {
  get(): Promise<T | undefined>;
  set(value: T): void;
  clear(): void;
}

/** A bag of a key's state: what was added, without order. To add costs no reading of what is there. Kept and lost as a cell is. */
export interface StateBag<T> {
  read(): Promise<T[]>;
  add(value: T): void;
  clear(): void;
}

type NoBags = Record<never, unknown>;

export interface KeyedContext<O extends Outputs, S extends Record<string, unknown>, B extends Record<string, unknown> = NoBags>
  extends BundleContext<O> {
  readonly key: string;
  state<K extends keyof S & string>(cell: K): StateCell<S[K]>;
  bag<K extends keyof B & string>(name: K): StateBag<B[K]>;
  /**
   * One timer a family and key; setting replaces it. Unix ms. One of processing time may fire early, late or twice. One of event time fires
   * once the watermark has come to `fireAt`, and what it emits stands there, so that it holds the watermark behind this stage until then.
   */
  setTimer(family: string, fireAt: number): void;
  clearTimer(family: string): void;
}

interface Lifecycle<O extends Outputs> {
  /** Before the first bundle of an instance. */
  setup?(): void | Promise<void>;
  startBundle?(): void | Promise<void>;
  /** Elements given here belong to the bundle too. */
  finishBundle?(context: BundleContext<O>): void | Promise<void>;
  /** After the last bundle; the worker ends. */
  teardown?(): void | Promise<void>;
}

/** Elements of one bundle may be processed side by side. Rejecting fails the bundle, which is tried again whole. */
export interface DoFn<In, O extends Outputs> extends Lifecycle<O> {
  process(element: In, context: BundleContext<O>): void | Promise<void>;
}

/** Calls for one key come one after another, those for different keys side by side. */
export interface KeyedDoFn<V, O extends Outputs, S extends Record<string, unknown>, B extends Record<string, unknown> = NoBags>
  extends Lifecycle<O> {
  process(value: V, context: KeyedContext<O, S, B>): void | Promise<void>;
  onTimer?(family: string, context: KeyedContext<O, S, B>): void | Promise<void>;
}

/** All that came under one key, in no stated order; may be iterated once, and need not fit into memory. Rejecting fails the bundle. */
export interface GroupedDoFn<V, O extends Outputs> extends Lifecycle<O> {
  process(key: string, values: AsyncIterable<V>, context: BundleContext<O>): void | Promise<void>;
}

/** An unbounded source: asked again and again, never in parallel with itself. On portable runners a splittable DoFn. */
export interface SourceDoFn<O extends Outputs> {
  setup?(): void | Promise<void>;
  teardown?(): void | Promise<void>;
  /** Emits what there is and returns how many ms to wait before the next poll; 0: at once. `wake` (from watch) cuts the wait short. */
  poll(context: BundleContext<O>): Promise<number>;
  /**
   * How far event time has come (Unix ms), asked before and after each poll: nothing that comes later belongs before it, and what comes
   * stands there. A fall changes nothing. Absent: event time is the time of the polls.
   */
  watermark?(): number;
  /** Calls `wake` when polling may be worth it; returns a function that ends the watch. */
  watch?(wake: () => void): () => void;
}

interface DefinitionBase<O extends Outputs> {
  /** The name it is registered by; what the proto carries. */
  readonly name: string;
  readonly outputs: O;
}

/** `services` is what the worker has (ports); `config` is JSON and travels in the proto. */
export interface DoFnDefinition<In, O extends Outputs, Config, Services> extends DefinitionBase<O> {
  readonly form: "each";
  readonly input: Codec<In>;
  make(config: Config, services: Services): DoFn<In, O>;
}

export interface KeyedDefinition<
  V,
  O extends Outputs,
  S extends Record<string, unknown>,
  Config,
  Services,
  B extends Record<string, unknown> = NoBags,
> extends DefinitionBase<O> {
  readonly form: "keyed";
  /** Of the value; keys are UTF-8 text. */
  readonly input: Codec<V>;
  readonly state: { [K in keyof S]: Codec<S[K]> };
  /** Of their elements; no bag has the name of a cell. */
  readonly bags?: { [K in keyof B]: Codec<B[K]> };
  /** Families of processing time. */
  readonly timers: readonly string[];
  /** Families of event time; none has the name of one of processing time. */
  readonly eventTimers?: readonly string[];
  make(config: Config, services: Services): KeyedDoFn<V, O, S, B>;
}

/** Of bounded pipelines. */
export interface GroupedDefinition<V, O extends Outputs, Config, Services> extends DefinitionBase<O> {
  readonly form: "grouped";
  /** Of the value; keys are UTF-8 text. */
  readonly input: Codec<V>;
  make(config: Config, services: Services): GroupedDoFn<V, O>;
}

/**
 * What becomes of all values of a key, in whatever order and parts: `add` and `merge` are associative and commutative, and `create` gives what
 * changes nothing. They may change `into`, and return it or another.
 */
export interface CombineDefinition<V, A> {
  /** The name it is registered by; what the proto carries. */
  readonly name: string;
  readonly form: "combine";
  readonly input: Codec<V>;
  readonly accumulator: Codec<A>;
  create(): A;
  add(into: A, value: V): A;
  merge(into: A, other: A): A;
}

export interface SourceDefinition<O extends Outputs, Config, Services> extends DefinitionBase<O> {
  readonly form: "source";
  make(config: Config, services: Services): SourceDoFn<O>;
}
