// What has the engine to do for this proto? Its stages, split at keyed transforms, groupings and reshuffles, each with the DoFns fused into it.
import type { AnyCodec } from "../../schemas/codec.ts";
import { type AnyDefinition, agrees, type DoFnPayload, PARDO_URN, readDoFn } from "../pardo.ts";
import type { DofnRegistry } from "../registry.ts";
import { RESHUFFLE_URN } from "../reshuffle.ts";
import { type PipelineProto, runnerApi, type TransformProto } from "../sdk.ts";

/** Where an element of an output goes: to a DoFn of the same bundle, or to the queue of another stage. */
export type Target = { to: "step"; step: number } | { to: "stage"; stage: number };

/** One DoFn in one stage. A DoFn that several stages feed is a step in each of them. */
export interface Step {
  readonly name: string;
  readonly definition: AnyDefinition;
  readonly config: unknown;
  readonly outputs: Readonly<Record<string, readonly Target[]>>;
}

/** `source`, `keyed`, `start`, `grouped`: its first step is that DoFn. `spread`: elements go to `roots`. The last three are of bounded pipelines. */
export interface StageGraph {
  readonly kind: "source" | "keyed" | "start" | "grouped" | "spread";
  readonly name: string;
  /** Of what comes in: of a spread the element, else the value under a key. A source and a start take nothing. */
  readonly input: AnyCodec | undefined;
  readonly steps: readonly Step[];
  /** The steps so that each stands before those that it feeds. */
  readonly order: readonly number[];
  readonly roots: readonly Target[];
}

type Leaf =
  | { kind: "impulse" | "flatten" | "spread" | "group"; transform: TransformProto }
  | { kind: AnyDefinition["form"]; transform: TransformProto; definition: AnyDefinition; config: unknown };

const IMPULSE_URN = "beam:transform:impulse:v1";
const FLATTEN_URN = "beam:transform:flatten:v1";
const GROUP_URN = "beam:transform:group_by_key:v1";

/** Throws where the proto holds what the engine cannot do, or a DoFn that the registry does not know. */
export function readGraph(proto: PipelineProto, registry: DofnRegistry<never>): StageGraph[] {
  const leaves = proto.rootTransformIds.flatMap((id) => leavesOf(proto, id, registry));
  const consumers = consumersOf(leaves);
  const kinds = leaves.map((leaf) => headKind(leaf, leaves));
  const heads = leaves.filter((_, index) => kinds[index] !== undefined);
  const headKinds = kinds.filter((kind) => kind !== undefined);
  const stageOf = new Map(heads.map((leaf, index) => [leaf, index]));
  const codecs = codecsOf(leaves);
  return heads.map((leaf, index) => readStage({ leaf, kind: headKinds[index]!, codecs }, consumers, stageOf));
}

/** Undefined where no stage begins at it. */
function headKind(leaf: Leaf, leaves: readonly Leaf[]): StageGraph["kind"] | undefined {
  const { kind, transform } = leaf;
  if (kind === "source" || kind === "keyed" || kind === "spread") return kind;
  const before = leaves.find((other) =>
    Object.values(other.transform.outputs).some((output) => Object.values(transform.inputs).includes(output)),
  );
  if ((kind === "grouped") !== (before?.kind === "group"))
    throw new Error(`${transform.uniqueName}: a DoFn of groups takes a grouping by key, and nothing else does`);
  if (kind === "grouped") return kind;
  return kind === "each" && before?.kind === "impulse" ? "start" : undefined;
}

/** Of the elements of each collection; leaves stand in the order of the graph. */
function codecsOf(leaves: readonly Leaf[]): Map<string, AnyCodec> {
  const codecs = new Map<string, AnyCodec>();
  for (const leaf of leaves) {
    const [input] = Object.values(leaf.transform.inputs);
    const passed = input === undefined ? undefined : codecs.get(input);
    for (const [name, collection] of Object.entries(leaf.transform.outputs)) {
      const codec = "definition" in leaf ? (leaf.definition.outputs as Record<string, AnyCodec>)[name] : passed;
      if (codec !== undefined) codecs.set(collection, codec);
    }
  }
  return codecs;
}

function leavesOf(proto: PipelineProto, id: string, registry: DofnRegistry<never>): Leaf[] {
  const transform = proto.components?.transforms[id];
  if (transform === undefined) throw new Error(`the pipeline names a transform ${id} that it does not have`);
  const urn = transform.spec?.urn ?? "";
  if (urn === IMPULSE_URN) return [{ kind: "impulse", transform }];
  if (urn === FLATTEN_URN) return [{ kind: "flatten", transform }];
  if (urn === GROUP_URN) return [{ kind: "group", transform }];
  if (urn === RESHUFFLE_URN) return [{ kind: "spread", transform }];
  if (urn === PARDO_URN) return [doFnLeaf(transform, registry)];
  if (transform.subtransforms.length > 0) return transform.subtransforms.flatMap((part) => leavesOf(proto, part, registry));
  throw new Error(`${transform.uniqueName}: the embedded engine cannot do ${urn || "a transform without a URN"}`);
}

function doFnLeaf(transform: TransformProto, registry: DofnRegistry<never>): Leaf {
  const name = transform.uniqueName;
  const payload = runnerApi.ParDoPayload.fromBinary(transform.spec!.payload);
  const carried = readDoFn(payload);
  if (carried === undefined) throw new Error(`${name}: the embedded engine cannot do a DoFn of ${payload.doFn?.urn}`);
  if (Object.keys(payload.sideInputs).length > 0) throw new Error(`${name}: the embedded engine has no side inputs`);
  const definition = found(name, carried, registry);
  if (!agrees(payload, definition))
    throw new Error(`${name}: the proto and the DoFn '${carried.name}' differ in state cells or timers`);
  return { kind: definition.form, transform, definition, config: carried.config };
}

function found(label: string, carried: DoFnPayload, registry: DofnRegistry<never>): AnyDefinition {
  try {
    return registry.find(carried);
  } catch (cause) {
    throw new Error(`${label}: ${(cause as Error).message}`, { cause });
  }
}

/** By collection; a flatten that lists a collection twice consumes it twice. */
function consumersOf(leaves: readonly Leaf[]): Map<string, Leaf[]> {
  const consumers = new Map<string, Leaf[]>();
  for (const leaf of leaves)
    for (const collection of Object.values(leaf.transform.inputs))
      consumers.set(collection, [...(consumers.get(collection) ?? []), leaf]);
  return consumers;
}

interface Head {
  leaf: Leaf;
  kind: StageGraph["kind"];
  codecs: ReadonlyMap<string, AnyCodec>;
}

function readStage({ leaf: head, kind, codecs }: Head, consumers: Map<string, Leaf[]>, stageOf: Map<Leaf, number>): StageGraph {
  const steps: Step[] = [];
  const indexOf = new Map<Leaf, number>();
  const backwards: number[] = [];

  const targetsOf = (collection: string): Target[] =>
    (consumers.get(collection) ?? []).flatMap((leaf): Target[] => {
      const stage = stageOf.get(leaf);
      if (leaf.kind === "flatten" || leaf.kind === "group") return Object.values(leaf.transform.outputs).flatMap(targetsOf);
      if (leaf.kind === "source" || leaf.kind === "impulse")
        throw new Error(`${leaf.transform.uniqueName}: a source takes nothing but an impulse`);
      return stage === undefined ? [{ to: "step", step: stepOf(leaf) }] : [{ to: "stage", stage }];
    });

  const stepOf = (leaf: Leaf): number => {
    const known = indexOf.get(leaf);
    if (known !== undefined) return known;
    if (!("definition" in leaf)) throw new Error(`${leaf.transform.uniqueName}: not a DoFn`);
    const index = steps.length;
    indexOf.set(leaf, index);
    const outputs: Record<string, Target[]> = {};
    const { definition, config } = leaf;
    steps.push({ name: leaf.transform.uniqueName, definition, config, outputs });
    for (const [name, collection] of Object.entries(leaf.transform.outputs)) outputs[name] = targetsOf(collection);
    backwards.push(index);
    return index;
  };

  if (kind !== "spread") stepOf(head);
  const roots = kind === "spread" ? Object.values(head.transform.outputs).flatMap(targetsOf) : [];
  const input = kind === "spread" ? codecs.get(Object.values(head.transform.inputs)[0]!) : undefined;
  const definition = "definition" in head ? head.definition : undefined;
  const ofKey = definition?.form === "keyed" || definition?.form === "grouped" ? definition.input : undefined;
  return { kind, name: head.transform.uniqueName, input: input ?? ofKey, steps, order: backwards.reverse(), roots };
}
