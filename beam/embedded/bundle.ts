// What happens in one bundle? Its elements run through the stage's fused DoFns; what they give is kept until all of them are done.
import type { AnyCodec } from "../../schemas/codec.ts";
import type { BundleContext, Outputs } from "../dofn.ts";
import { crossed } from "./crossing.ts";
import { Fifo } from "./fifo.ts";
import { type AnyDoFn, type Instances, isPromise } from "./instances.ts";
import type { StageGraph, Target } from "./read-graph.ts";

/** Calls of one bundle that wait for something at a time; the others of the bundle start as these end. */
const SIDE_BY_SIDE = 256; // twice limits.bundleElements: a full bundle starts at once, a flood of its outputs does not

/** The fused DoFns of a stage and where their instances come from; a source's own instance is not of the bundle. */
export interface Line {
  readonly graph: StageGraph;
  readonly pools: readonly (Instances<AnyDoFn> | undefined)[];
  readonly checkCodecs: boolean;
}

export type AfterCommit = () => void | Promise<void>;

/** Elements for the queue of one stage, in order. */
export interface Outgoing {
  stage: number;
  values: unknown[];
}

/** Takes what leaves a bundle before the bundle is through, in place of `outgoing`. */
export interface Exit {
  /** May throw: then the bundle fails. */
  give(stage: number, value: unknown): void;
  /** Throws where nothing is to be emitted any more. */
  mustGoOn(): void;
}

/** Runs one try of a bundle. Rejects with the first failure once nothing of the bundle runs any more; then nothing of it is left. */
export async function tryBundle(line: Line, feed: (bundle: Bundle) => void | Promise<void>, exit?: Exit): Promise<Bundle> {
  const bundle = new Bundle(line, exit);
  try {
    // Most of these answer at once, several times a bundle: what is no promise is not awaited.
    for (const [step, pool] of line.pools.entries()) {
      const lent = pool?.lend();
      bundle.instances[step] = isPromise(lent) ? await lent : lent;
    }
    for (const instance of bundle.instances) {
      const started = instance?.startBundle?.();
      if (isPromise(started)) await started;
    }
    const fed = feed(bundle);
    if (isPromise(fed)) await fed;
    for (const step of line.graph.order) {
      const working = bundle.idle();
      if (working !== undefined) await working;
      if (bundle.failed) break;
      const finished = bundle.instances[step]?.finishBundle?.(new StepContext(bundle, step));
      if (isPromise(finished)) await finished;
    }
  } catch (error) {
    bundle.fail(error);
  }
  const working = bundle.idle();
  if (working !== undefined) await working;
  return bundle.end();
}

export class Bundle {
  readonly line: Line;
  readonly instances: (AnyDoFn | undefined)[] = [];
  readonly outgoing: Outgoing[] = [];
  readonly afterCommits: AfterCommit[] = [];
  readonly #exit: Exit | undefined;
  readonly #contexts: StepContext[] = [];
  readonly #waiting = new Fifo<{ step: number; value: unknown }>();
  #running = 0;
  #ended = false;
  #failure: { error: unknown } | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(line: Line, exit?: Exit) {
    this.line = line;
    this.#exit = exit;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Gives a value to a step's output. */
  emit(step: number, output: string, value: unknown): void {
    const { definition, name, outputs } = this.line.graph.steps[step]!;
    const targets = outputs[output];
    if (targets === undefined) throw new Error(`${name} has no output '${output}'`);
    this.send(targets, value, definition.outputs[output]);
  }

  send(targets: readonly Target[], value: unknown, codec?: AnyCodec): void {
    this.mustBeOpen();
    this.#exit?.mustGoOn();
    for (const target of targets) {
      if (target.to === "step") this.#deliver(target.step, value);
      else if (this.#exit !== undefined) this.#exit.give(target.stage, value);
      else this.#out(target.stage, this.line.checkCodecs && codec !== undefined ? crossed(codec, value) : value);
    }
  }

  afterCommit(run: AfterCommit): void {
    this.mustBeOpen();
    this.afterCommits.push(run);
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#waiting.clear();
  }

  /** Undefined when no call waits for anything, else a promise of that. */
  idle(): Promise<void> | undefined {
    if (this.#running === 0) return undefined;
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  /** Gives the instances back; throws the failure where there is one, and the instances of a failed bundle are not used again. */
  end(): this {
    this.#ended = true;
    if (this.#failure !== undefined) throw this.#failure.error;
    for (const [step, instance] of this.instances.entries())
      if (instance !== undefined) this.line.pools[step]?.giveBack(instance);
    return this;
  }

  mustBeOpen(): void {
    if (this.#ended) throw new Error(`${this.line.graph.name}: a bundle was used after its end`);
  }

  #out(stage: number, value: unknown): void {
    const known = this.outgoing.find((outgoing) => outgoing.stage === stage);
    if (known === undefined) this.outgoing.push({ stage, values: [value] });
    else known.values.push(value);
  }

  #deliver(step: number, value: unknown): void {
    if (this.failed) return;
    if (this.#running < SIDE_BY_SIDE) this.#process(step, value);
    else this.#waiting.push({ step, value });
  }

  #process(step: number, value: unknown): void {
    this.#contexts[step] ??= new StepContext(this, step);
    let result: void | Promise<void>;
    try {
      result = this.instances[step]!.process(value, this.#contexts[step]);
    } catch (error) {
      this.fail(error);
      return;
    }
    if (!isPromise(result)) return;
    this.#running++;
    result.then(
      () => this.#done(),
      (error) => {
        this.fail(error);
        this.#done();
      },
    );
  }

  #done(): void {
    this.#running--;
    while (this.#running < SIDE_BY_SIDE && this.#waiting.length > 0) {
      const { step, value } = this.#waiting.shift()!;
      this.#process(step, value);
    }
    if (this.#running === 0) this.#whenIdle?.();
  }
}

/** What one DoFn sees of its bundle. */
export class StepContext implements BundleContext<Outputs> {
  readonly #bundle: Bundle;
  readonly #step: number;

  constructor(bundle: Bundle, step: number) {
    this.#bundle = bundle;
    this.#step = step;
  }

  emit(output: string, value: unknown): void {
    this.#bundle.emit(this.#step, output, value);
  }

  afterCommit(run: AfterCommit): void {
    this.#bundle.afterCommit(run);
  }
}
