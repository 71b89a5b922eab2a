// How does a DoFn of ours stand in a proto? As a ParDo that names it and carries its JSON configuration, never code (beam_runner_api.proto).
import type { AnyCodec } from "../schemas/codec.ts";
import { collectionCoder, stateCoder, timerCoder } from "./coders.ts";
import type { DoFnDefinition, GroupedDefinition, KeyedDefinition, SourceDefinition } from "./dofn.ts";
import {
  type Coder,
  type Collected,
  KVCoder,
  type ParDoPayload,
  type Pipeline,
  runnerApi,
  StrUtf8Coder,
  type TransformProto,
} from "./sdk.ts";

export const PARDO_URN = "beam:transform:pardo:v1";
export const DOFN_URN = "gleaner:dofn:registered:v1";

export const requirements = {
  stateful: "beam:requirement:pardo:stateful:v1",
  splittable: "beam:requirement:pardo:splittable_dofn:v1",
  finalization: "beam:requirement:pardo:finalization:v1",
} as const;

// biome-ignore lint/suspicious/noExplicitAny: definitions of all types stand in one list; each checked its own when it was written
type Any = any;
export type AnyKeyedDefinition = KeyedDefinition<Any, Any, Any, Any, Any, Any>;
export type AnyGroupedDefinition = GroupedDefinition<Any, Any, Any, Any>;
export type AnyDefinition =
  | DoFnDefinition<Any, Any, Any, Any>
  | AnyKeyedDefinition
  | AnyGroupedDefinition
  | SourceDefinition<Any, Any, Any>;

/** What the proto says of a DoFn. */
export interface DoFnPayload {
  name: string;
  form: AnyDefinition["form"];
  config: unknown;
}

/** The expansion that makes a transform this ParDo; its outputs are named as the definition names them, those of a source are unbounded. */
export function parDo(definition: AnyDefinition, config: unknown) {
  return (_input: unknown, pipeline: Pipeline, transform: TransformProto): Record<string, Collected> => {
    transform.spec = { urn: PARDO_URN, payload: runnerApi.ParDoPayload.toBinary(payload(definition, config, pipeline)) };
    const outputs = Object.entries(definition.outputs as Record<string, AnyCodec>);
    // Where it is not said, they are bounded as what comes in is.
    const isBounded = definition.form === "source" ? runnerApi.IsBounded_Enum.UNBOUNDED : undefined;
    const collection = (codec: AnyCodec) => pipeline.createPCollectionInternal(collectionCoder(codec), undefined, isBounded);
    return Object.fromEntries(outputs.map(([name, codec]) => [name, collection(codec)]));
  };
}

/** Undefined where the ParDo is not one of ours. */
export function readDoFn(parDoPayload: ParDoPayload): DoFnPayload | undefined {
  if (parDoPayload.doFn?.urn !== DOFN_URN) return undefined;
  return JSON.parse(Buffer.from(parDoPayload.doFn.payload).toString()) as DoFnPayload;
}

/** The names of all that is kept of a key: cells, then bags. */
export function keptNames({ state, bags = {} }: AnyKeyedDefinition): string[] {
  return [...Object.keys(state), ...Object.keys(bags)];
}

/** Whether the proto has just the state and the timers of the DoFn. */
export function agrees(payload: ParDoPayload, definition: AnyDefinition): boolean {
  const kept = definition.form === "keyed" ? keptNames(definition) : [];
  const families = definition.form === "keyed" ? timerDomains(definition) : [];
  const told = Object.entries(payload.timerFamilySpecs).map(([family, { timeDomain }]) => [family, timeDomain]);
  return alike(Object.keys(payload.stateSpecs), kept) && alike(told, families);
}

function alike(one: readonly unknown[], other: readonly unknown[]): boolean {
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}

function payload(definition: AnyDefinition, config: unknown, pipeline: Pipeline): ParDoPayload {
  const carried: DoFnPayload = { name: definition.name, form: definition.form, config };
  // Any DoFn may call afterCommit, so that all of them may ask for finalization.
  require(pipeline, requirements.finalization);
  const common = { doFn: { urn: DOFN_URN, payload: Buffer.from(JSON.stringify(carried)) }, requestsFinalization: true };
  if (definition.form === "keyed") return runnerApi.ParDoPayload.create({ ...common, ...keyedSpecs(definition, pipeline) });
  if (definition.form !== "source") return runnerApi.ParDoPayload.create(common);
  require(pipeline, requirements.splittable);
  return runnerApi.ParDoPayload.create({ ...common, restrictionCoderId: pipeline.getCoderId(restrictionCoder()) });
}

function keyedSpecs(definition: AnyKeyedDefinition, pipeline: Pipeline): Pick<ParDoPayload, "stateSpecs" | "timerFamilySpecs"> {
  require(pipeline, requirements.stateful);
  const timerFamilyCoderId = pipeline.getCoderId(timerCoder(pipeline));
  const [kept, families] = [keptNames(definition), timerDomains(definition)];
  mustDiffer(definition.name, kept);
  mustDiffer(
    definition.name,
    families.map(([family]) => family),
  );
  const cell = runnerApi.StateSpec.create({
    spec: { oneofKind: "bagSpec", bagSpec: { elementCoderId: pipeline.getCoderId(stateCoder()) } },
    protocol: { urn: BAG_STATE_URN, payload: new Uint8Array() },
  });
  return {
    stateSpecs: Object.fromEntries(kept.map((name) => [name, cell])),
    timerFamilySpecs: Object.fromEntries(families.map(([name, timeDomain]) => [name, { timeDomain, timerFamilyCoderId }])),
  };
}

function timerDomains({ timers, eventTimers = [] }: AnyKeyedDefinition): [family: string, TimeDomain][] {
  const { PROCESSING_TIME, EVENT_TIME } = runnerApi.TimeDomain_Enum;
  return [
    ...timers.map((family): [string, TimeDomain] => [family, PROCESSING_TIME]),
    ...eventTimers.map((family): [string, TimeDomain] => [family, EVENT_TIME]),
  ];
}

function mustDiffer(dofn: string, names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`the DoFn '${dofn}' declares '${twice}' twice`);
}

type TimeDomain = ParDoPayload["timerFamilySpecs"][string]["timeDomain"];

const BAG_STATE_URN = "beam:user_state:bag:v1";

/** What a source has yet to do: runners keep it as two texts of the harness's choice. */
function restrictionCoder(): Coder {
  return new KVCoder(new StrUtf8Coder(), new StrUtf8Coder()) as Coder;
}

function require(pipeline: Pipeline, requirement: string): void {
  const declared = pipeline.getProto().requirements;
  if (!declared.includes(requirement)) declared.push(requirement);
}
