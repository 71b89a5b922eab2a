// What happens in one bundle? Elements run through the stage's steps side by side, a named number at a time; what they give is kept or leaves.
import type { Clock } from "../../ports/clock.ts";
import { fromWire, toWire, type Wire } from "../coders.ts";
import type { BundleContext, Outputs } from "../dofn.ts";
import { Fifo } from "../embedded/fifo.ts";
import { type AnyDoFn, isPromise } from "../embedded/instances.ts";
import type { DelayedApplication } from "../fn-sdk.ts";
import type { KeyedBundle } from "./keyed-bundle.ts";
import type { SinkFrames } from "./sink-frames.ts";
import type { SourceInstance } from "./source-instance.ts";
import type { Output, StagePlan } from "./stage-plan.ts";
import { processors } from "./steps.ts";
import { type Header, headerAt } from "./windowed.ts";

/** Calls of a bundle that wait for something, or for their key's turn: as many state reads are under way to the runner at a time. */
const SIDE_BY_SIDE = 1024;

export type AfterCommit = () => void | Promise<void>;

export interface BundleParts {
  plan: StagePlan;
  clock: Clock;
  sinks: readonly SinkFrames[];
  /** By the number of the step. */
  keyed: readonly (KeyedBundle | undefined)[];
  /** Pages of what the runner keeps under a token of its own. */
  kept: (token: Uint8Array) => AsyncIterable<Buffer>;
  /** A source is asked again after whole multiples of this. */
  delayStepMs: number;
}

export class Bundle {
  readonly parts: BundleParts;
  readonly instances: (AnyDoFn | SourceInstance | undefined)[] = [];
  /** Elements of each of the plan's collections. */
  readonly counts: number[];
  readonly afterCommits: AfterCommit[] = [];
  /** What the sources have yet to do. */
  readonly residuals: DelayedApplication[] = [];
  /** Called when the bundle has failed, or is to come to its end: ends what waits for arrivals. */
  readonly hurries = new Set<() => void>();
  /** Called once, when the bundle fails. */
  readonly onFail: (error: Error) => void;
  /** Resolves when the bundle fails. */
  readonly failed: Promise<void>;
  readonly #failed = Promise.withResolvers<void>();
  readonly #waiting = new Fifo<{ step: number; header: Header; value: unknown }>();
  #running = 0;
  #failure: Error | undefined;
  #ended = false;
  #room: PromiseWithResolvers<void> | undefined;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(parts: BundleParts, onFail: (error: Error) => void) {
    this.parts = parts;
    this.counts = new Array<number>(parts.plan.collections.length).fill(0);
    this.onFail = onFail;
    this.failed = this.#failed.promise;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Gives a value to all that takes this output. */
  send(output: Output, header: Header, value: unknown): void {
    this.counts[output.collection]!++;
    const { sinks, plan } = this.parts;
    for (const sink of output.sinks)
      sinks[sink]!.add(header, output.codec === undefined ? (value as Wire) : toWire(output.codec, value));
    for (const step of output.steps) this.#deliver(step, header, crossing(output, plan.steps[step]!.input, value));
    for (const flattened of output.flattened) this.send(flattened, header, value);
  }

  /** Gives a value to a step's output; nothing where the bundle has failed. */
  emit(step: number, name: string, header: Header, value: unknown): void {
    this.mustBeOpen();
    if (this.#failure !== undefined) return;
    const { outputs, label, work } = this.parts.plan.steps[step]!;
    const output = outputs[name];
    if (output !== undefined) this.send(output, header, value);
    // A runner leaves out what nobody takes.
    else if (!("definition" in work) || !(name in work.definition.outputs)) throw new Error(`${label} has no output '${name}'`);
  }

  /** A call has begun that waits for something; ended() is to be called once. */
  began(): void {
    this.#running++;
  }

  ended(): void {
    this.#running--;
    while (this.#running < SIDE_BY_SIDE && this.#waiting.length > 0) {
      const { step, header, value } = this.#waiting.shift()!;
      this.#process(step, header, value);
    }
    if (this.#running < SIDE_BY_SIDE) this.#room?.resolve();
    if (this.#running === 0) this.#idle?.resolve();
  }

  /** Undefined where another element may begin, else what to await before. */
  room(): Promise<void> | undefined {
    if (this.#running < SIDE_BY_SIDE || this.#failure !== undefined) return undefined;
    this.#room = Promise.withResolvers();
    return this.#room.promise;
  }

  /** Undefined where no call waits for anything, else a promise of that. */
  idle(): Promise<void> | undefined {
    if (this.#running === 0) return undefined;
    this.#idle = Promise.withResolvers();
    return this.#idle.promise;
  }

  fail(cause: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = cause instanceof Error ? cause : new Error(String(cause));
    this.#waiting.clear();
    this.#room?.resolve();
    this.#failed.resolve();
    this.hurry();
    this.onFail(this.#failure);
  }

  hurry(): void {
    for (const hurry of this.hurries) hurry();
  }

  end(): void {
    this.#ended = true;
  }

  mustBeOpen(): void {
    if (this.#ended) throw new Error(`${this.parts.plan.id}: a bundle was used after its end`);
  }

  /** Throws where nothing is to be begun any more: what is asked of the runner now would not be answered. */
  mustWork(): void {
    this.mustBeOpen();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #deliver(step: number, header: Header, value: unknown): void {
    if (this.#failure !== undefined) return;
    if (this.#running < SIDE_BY_SIDE) this.#process(step, header, value);
    else this.#waiting.push({ step, header, value });
  }

  #process(step: number, header: Header, value: unknown): void {
    try {
      const result = processors[this.parts.plan.steps[step]!.work.kind]({ bundle: this, step, header, value });
      if (isPromise(result)) this.follow(step, result);
    } catch (error) {
      this.failIn(step, error);
    }
  }

  /** Counts the call as running until its promise is settled. */
  follow(step: number, promise: Promise<unknown>): void {
    this.began();
    promise.then(
      () => this.ended(),
      (error) => {
        this.failIn(step, error);
        this.ended();
      },
    );
  }

  failIn(step: number, cause: unknown): void {
    const { label } = this.parts.plan.steps[step]!;
    this.fail(new Error(`${label}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }));
  }
}

/** A value as its taker wants it: decoded, or as it stands on the wire. */
function crossing(output: Output, input: Output["codec"], value: unknown): unknown {
  if (output.codec === undefined) return input === undefined ? value : fromWire(input, value as Wire);
  return input === undefined ? toWire(output.codec, value) : value;
}

/** What a DoFn without keys sees of its bundle while it has one element. */
export class ElementContext implements BundleContext<Outputs> {
  readonly #bundle: Bundle;
  readonly #step: number;
  /** Undefined: what is given here comes into being now. */
  readonly #header: Header | undefined;

  constructor(bundle: Bundle, step: number, header?: Header) {
    this.#bundle = bundle;
    this.#step = step;
    this.#header = header;
  }

  emit(output: string, value: unknown): void {
    this.#bundle.emit(this.#step, output, this.#header ?? headerAt(this.#bundle.parts.clock.now()), value);
  }

  afterCommit(run: AfterCommit): void {
    this.#bundle.mustBeOpen();
    this.#bundle.afterCommits.push(run);
  }
}
