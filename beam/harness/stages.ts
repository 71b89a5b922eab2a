// Which stages does a worker know? Descriptors as they are asked for, each read once, with the instances of its DoFns.
import type { Log } from "../../ports/log.ts";
import type { SourceDoFn } from "../dofn.ts";
import type { AnyDoFn } from "../embedded/instances.ts";
import type { BundleDescriptor, MonitoringInfo } from "../fn-sdk.ts";
import type { DofnRegistry } from "../registry.ts";
import { InstancePool } from "./instance-pool.ts";
import { elementCount } from "./monitoring.ts";
import { type SourceInstance, sourceInstance } from "./source-instance.ts";
import { readStage, type StagePlan, type Step } from "./stage-plan.ts";

/** Stages kept; a job has dozens, and a runner that names them anew with each restart must not fill the worker. */
const STAGES_MAX = 512;

type Instance = AnyDoFn | SourceInstance;

export interface Stage {
  /** Short, and never used again: the ids of its metrics begin with it. */
  readonly name: string;
  readonly plan: StagePlan;
  /** What the counts of its collections are of, in their order. */
  readonly counted: readonly MonitoringInfo[];
  /** By the number of the step; undefined for steps that are none of a DoFn. */
  readonly pools: readonly (InstancePool<Instance> | undefined)[];
}

export interface StagesOptions {
  registry: DofnRegistry<never>;
  services: unknown;
  log: Log;
  /** Asks the runner. */
  fetch: (descriptorId: string) => Promise<BundleDescriptor>;
}

export class Stages {
  readonly #options: StagesOptions;
  readonly #stages = new Map<string, Promise<Stage>>();
  readonly #named = new Map<string, Stage>();
  #count = 0;

  constructor(options: StagesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#stages.size;
  }

  get instances(): number {
    let sum = 0;
    for (const { pools } of this.#named.values()) for (const pool of pools) sum += pool?.size ?? 0;
    return sum;
  }

  /** Rejects where the runner does not tell, or the stage is none that the harness can do; then it is asked for again the next time. */
  stage(descriptorId: string): Promise<Stage> {
    return this.#known(descriptorId) ?? this.#add(descriptorId, this.#options.fetch(descriptorId));
  }

  /** The descriptor came by itself. */
  register(descriptor: BundleDescriptor): void {
    if (this.#known(descriptor.id) === undefined) void this.#add(descriptor.id, Promise.resolve(descriptor));
  }

  named(name: string): Stage | undefined {
    return this.#named.get(name);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#named.values()].map(closeStage));
  }

  #known(id: string): Promise<Stage> | undefined {
    const known = this.#stages.get(id);
    if (known === undefined) return undefined;
    this.#stages.delete(id);
    this.#stages.set(id, known);
    return known;
  }

  #add(id: string, descriptor: Promise<BundleDescriptor>): Promise<Stage> {
    const stage = descriptor.then((found) => this.#read(found));
    this.#stages.set(id, stage);
    stage.catch(() => this.#stages.get(id) === stage && this.#stages.delete(id));
    for (const oldest of this.#stages.keys()) {
      if (this.#stages.size <= STAGES_MAX) break;
      this.#forget(oldest);
    }
    return stage;
  }

  #forget(id: string): void {
    const stage = this.#stages.get(id);
    this.#stages.delete(id);
    stage?.then(
      async (old) => {
        this.#named.delete(old.name);
        await closeStage(old);
      },
      () => undefined,
    );
  }

  #read(descriptor: BundleDescriptor): Stage {
    const plan = readStage(descriptor, this.#options.registry);
    const name = (this.#count++).toString(36);
    const counted = plan.collections.map(elementCount);
    const stage: Stage = { name, plan, counted, pools: plan.steps.map((step) => this.#pool(step)) };
    this.#named.set(stage.name, stage);
    return stage;
  }

  #pool({ work, label }: Step): InstancePool<Instance> | undefined {
    if (!("definition" in work)) return undefined;
    const { definition, config } = work;
    const make = () => definition.make(config, this.#options.services);
    const instance = () =>
      work.kind === "poll" ? sourceInstance(make() as SourceDoFn<never>) : (make() as unknown as AnyDoFn);
    return new InstancePool<Instance>(label, instance, this.#options.log);
  }
}

async function closeStage({ pools }: Stage): Promise<void> {
  await Promise.all(pools.map((pool) => pool?.close()));
}
