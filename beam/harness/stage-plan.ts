// What has the harness to do for a stage? Its descriptor read once: steps, where their outputs go, what comes in and what leaves (beam_fn_api.proto).
import type { AnyCodec } from "../../schemas/codec.ts";
import { keyed } from "../coders.ts";
import { type BundleDescriptor, fnApi } from "../fn-sdk.ts";
import { type AnyDefinition, agrees, PARDO_URN, readDoFn } from "../pardo.ts";
import type { DofnRegistry } from "../registry.ts";
import { type ParDoPayload, runnerApi, type TransformProto } from "../sdk.ts";
import { type TimerCoder, timerCoder } from "./timer-frames.ts";
import { mustBeGlobal, windowedCoder } from "./windowed.ts";
import type { WireCoder } from "./wire-coders.ts";

/** What a step does: a DoFn of ours by its form, the two ends of a reshuffle, or a part of a splittable source. */
export type Work =
  | { kind: "each" | "keyed" | "grouped"; definition: AnyDefinition; config: unknown; timers: ReadonlyMap<string, TimerFamily> }
  | { kind: "poll"; definition: AnyDefinition; config: unknown; inputId: string; outputIds: readonly string[] }
  | { kind: "pair" | "unpair" | "restrict" | "split" | "truncate" };

export interface Step {
  /** The id of the transform; its label is what people know it by. */
  readonly id: string;
  readonly label: string;
  readonly work: Work;
  /** Undefined where it takes values as they came from the wire. */
  readonly input: AnyCodec | undefined;
  /** By the name that the DoFn gives it. */
  readonly outputs: Readonly<Record<string, Output>>;
}

export interface TimerFamily {
  readonly coder: TimerCoder;
  /** Else it is one of processing time. */
  readonly eventTime: boolean;
}

/** Where the elements of one output go. */
export interface Output {
  /** Its place in StagePlan.collections. */
  readonly collection: number;
  /** Undefined where its values are as they came from the wire. */
  readonly codec: AnyCodec | undefined;
  readonly steps: readonly number[];
  readonly sinks: readonly number[];
  /** The outputs of the flattens that take it. */
  readonly flattened: readonly Output[];
}

/** One end of a data stream between runner and harness. */
export interface Port {
  readonly id: string;
  readonly endpoint: string;
  /** Of the value behind the header. */
  readonly coder: WireCoder;
}

export interface StagePlan {
  readonly id: string;
  readonly steps: readonly Step[];
  /** Each step before those that it feeds. */
  readonly order: readonly number[];
  readonly sources: readonly (Port & { output: Output })[];
  readonly sinks: readonly Port[];
  /** Ids of the collections, whose elements are counted. */
  readonly collections: readonly string[];
  readonly stateEndpoint: string;
  readonly timerEndpoint: string;
}

const FLATTEN_URN = "beam:transform:flatten:v1";
const SOURCE_URN = "beam:runner:source:v1";
const SINK_URN = "beam:runner:sink:v1";
const SDF_URNS: Readonly<Record<string, "restrict" | "split" | "truncate" | "poll">> = {
  "beam:transform:sdf_pair_with_restriction:v1": "restrict",
  "beam:transform:sdf_split_and_size_restrictions:v1": "split",
  "beam:transform:sdf_truncate_sized_restrictions:v1": "truncate",
  "beam:transform:sdf_process_sized_element_and_restrictions:v1": "poll",
};
const RESHUFFLE_URNS: Readonly<Record<string, "pair" | "unpair">> = {
  "gleaner:dofn:reshuffle_pair:v1": "pair",
  "gleaner:dofn:reshuffle_unpair:v1": "unpair",
};

/** Throws where the stage holds what the harness cannot do, or a DoFn that the registry does not know. */
export function readStage(descriptor: BundleDescriptor, registry: DofnRegistry<never>): StagePlan {
  return new StageReader(descriptor, registry).read();
}

class StageReader {
  readonly #descriptor: BundleDescriptor;
  readonly #registry: DofnRegistry<never>;
  readonly #consumers = new Map<string, string[]>();
  readonly #steps: Step[] = [];
  readonly #stepOf = new Map<string, number>();
  readonly #sinks: Port[] = [];
  readonly #collections: string[] = [];
  readonly #backwards: number[] = [];
  readonly #open = new Set<string>();

  constructor(descriptor: BundleDescriptor, registry: DofnRegistry<never>) {
    this.#descriptor = descriptor;
    this.#registry = registry;
    for (const [id, transform] of Object.entries(descriptor.transforms))
      for (const collection of Object.values(transform.inputs))
        this.#consumers.set(collection, [...(this.#consumers.get(collection) ?? []), id]);
  }

  read(): StagePlan {
    const { id, transforms, windowingStrategies, coders } = this.#descriptor;
    for (const { windowCoderId } of Object.values(windowingStrategies)) mustBeGlobal(coders, windowCoderId);
    const sources = Object.entries(transforms)
      .filter(([, transform]) => transform.spec?.urn === SOURCE_URN)
      .map(([source, transform]) => {
        const [collection] = Object.values(transform.outputs);
        return { ...this.#port(source, transform), output: this.#output(collection ?? "", undefined) };
      });
    if (sources.length === 0) throw new Error(`the stage ${id} has no data source`);
    return {
      ...{ id, sources, steps: this.#steps, sinks: this.#sinks, collections: this.#collections },
      order: this.#backwards.reverse(),
      stateEndpoint: this.#descriptor.stateApiServiceDescriptor?.url ?? "",
      timerEndpoint: this.#descriptor.timerApiServiceDescriptor?.url || sources[0]!.endpoint,
    };
  }

  #output(collection: string, codec: AnyCodec | undefined): Output {
    const steps: number[] = [];
    const sinks: number[] = [];
    const flattened: Output[] = [];
    const known = this.#collections.indexOf(collection);
    const index = known >= 0 ? known : this.#collections.push(collection) - 1;
    for (const id of this.#consumers.get(collection) ?? []) {
      const transform = this.#descriptor.transforms[id]!;
      const urn = transform.spec?.urn;
      if (urn === SINK_URN) sinks.push(this.#sink(id, transform));
      else if (urn === FLATTEN_URN)
        for (const out of Object.values(transform.outputs)) flattened.push(this.#inside(id, () => this.#output(out, codec)));
      else steps.push(this.#step(id, transform));
    }
    return { collection: index, codec, steps, sinks, flattened };
  }

  #step(id: string, transform: TransformProto): number {
    const known = this.#stepOf.get(id);
    if (known !== undefined && !this.#open.has(id)) return known;
    return this.#inside(id, () => {
      const { work, input } = this.#work(transform);
      const definition = "definition" in work ? work.definition : undefined;
      const codecs = (definition?.outputs ?? {}) as Record<string, AnyCodec>;
      const outputs: Record<string, Output> = {};
      const index = this.#steps.push({ id, label: transform.uniqueName, work, input, outputs }) - 1;
      this.#stepOf.set(id, index);
      for (const [name, collection] of Object.entries(transform.outputs))
        outputs[name] = this.#output(collection, codecs[name]);
      this.#backwards.push(index);
      return index;
    });
  }

  #inside<T>(id: string, read: () => T): T {
    if (this.#open.has(id)) throw new Error(`${id} feeds itself`);
    this.#open.add(id);
    const result = read();
    this.#open.delete(id);
    return result;
  }

  #work(transform: TransformProto): Pick<Step, "work" | "input"> {
    const urn = transform.spec?.urn ?? "";
    const sdf = SDF_URNS[urn];
    if (sdf === undefined && urn !== PARDO_URN)
      throw new Error(`${transform.uniqueName}: the harness cannot do ${urn || "a transform without a URN"}`);
    const payload = runnerApi.ParDoPayload.fromBinary(transform.spec!.payload);
    if (Object.keys(payload.sideInputs).length > 0) throw new Error(`${transform.uniqueName}: the harness has no side inputs`);
    const reshuffle = RESHUFFLE_URNS[payload.doFn?.urn ?? ""];
    if (reshuffle !== undefined) return { work: { kind: reshuffle }, input: undefined };
    const carried = readDoFn(payload);
    if (carried === undefined) throw new Error(`${transform.uniqueName}: the harness cannot do a DoFn of ${payload.doFn?.urn}`);
    const definition = this.#found(transform.uniqueName, carried);
    const { config } = carried;
    if (sdf === "poll") return { work: { kind: "poll", definition, config, ...this.#pollPorts(transform) }, input: undefined };
    if (sdf !== undefined) return { work: { kind: sdf }, input: undefined };
    if (definition.form === "source") throw new Error(`${transform.uniqueName}: the runner has not expanded the source`);
    const timers = this.#timers(transform, payload, definition);
    // A group is taken as it stands on the wire: its values are decoded as they are asked for.
    const ungrouped = definition.form === "keyed" ? keyed(definition.input) : definition.input;
    const input = definition.form === "grouped" ? undefined : ungrouped;
    return { work: { kind: definition.form, definition, config, timers }, input };
  }

  #found(label: string, carried: Parameters<DofnRegistry<never>["find"]>[0]): AnyDefinition {
    try {
      return this.#registry.find(carried);
    } catch (cause) {
      throw new Error(`${label}: ${(cause as Error).message}`, { cause });
    }
  }

  #timers(transform: TransformProto, payload: ParDoPayload, definition: AnyDefinition): ReadonlyMap<string, TimerFamily> {
    if (!agrees(payload, definition))
      throw new Error(`${transform.uniqueName}: the proto and the DoFn '${definition.name}' differ in state cells or timers`);
    const entries = Object.entries(payload.timerFamilySpecs).map(([name, spec]): [string, TimerFamily] => {
      const coder = timerCoder(this.#descriptor.coders, spec.timerFamilyCoderId);
      return [name, { coder, eventTime: spec.timeDomain === runnerApi.TimeDomain_Enum.EVENT_TIME }];
    });
    return new Map(entries);
  }

  #pollPorts(transform: TransformProto): { inputId: string; outputIds: string[] } {
    const [inputId] = Object.keys(transform.inputs);
    return { inputId: inputId ?? "", outputIds: Object.keys(transform.outputs) };
  }

  #sink(id: string, transform: TransformProto): number {
    const known = this.#sinks.findIndex((sink) => sink.id === id);
    return known >= 0 ? known : this.#sinks.push(this.#port(id, transform)) - 1;
  }

  #port(id: string, transform: TransformProto): Port {
    const { apiServiceDescriptor, coderId } = fnApi.RemoteGrpcPort.fromBinary(transform.spec!.payload);
    return { id, endpoint: apiServiceDescriptor?.url ?? "", coder: windowedCoder(this.#descriptor.coders, coderId) };
  }
}
