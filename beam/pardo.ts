// How does a DoFn of ours stand in a proto? As a ParDo that names it and carries its JSON configuration, never code (beam_runner_api.proto).
import { collectionCoder, stateCoder, timerCoder } from "./coders.ts";
import type { DoFnDefinition, KeyedDefinition, SourceDefinition } from "./dofn.ts";
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
export type AnyKeyedDefinition = KeyedDefinition<Any, Any, Any, Any, Any>;
export type AnyDefinition = DoFnDefinition<Any, Any, Any, Any> | AnyKeyedDefinition | SourceDefinition<Any, Any, Any>;

/** What the proto says of a DoFn. */
export interface DoFnPayload {
  name: string;
  form: AnyDefinition["form"];
  config: unknown;
}

/** The expansion that makes a transform this ParDo; its outputs are unbounded and named as the definition names them. */
export function parDo(definition: AnyDefinition, config: unknown) {
  return (_input: unknown, pipeline: Pipeline, transform: TransformProto): Record<string, Collected> => {
    transform.spec = { urn: PARDO_URN, payload: runnerApi.ParDoPayload.toBinary(payload(definition, config, pipeline)) };
    const outputs = Object.entries(definition.outputs as Record<string, never>);
    return Object.fromEntries(outputs.map(([name, codec]) => [name, unbounded(pipeline, collectionCoder(codec))]));
  };
}

/** Undefined where the ParDo is not one of ours. */
export function readDoFn(parDoPayload: ParDoPayload): DoFnPayload | undefined {
  if (parDoPayload.doFn?.urn !== DOFN_URN) return undefined;
  return JSON.parse(Buffer.from(parDoPayload.doFn.payload).toString()) as DoFnPayload;
}

export function unbounded(pipeline: Pipeline, coder: Coder): Collected {
  return pipeline.createPCollectionInternal(coder, undefined, runnerApi.IsBounded_Enum.UNBOUNDED);
}

function payload(definition: AnyDefinition, config: unknown, pipeline: Pipeline): ParDoPayload {
  const carried: DoFnPayload = { name: definition.name, form: definition.form, config };
  // Any DoFn may call afterCommit, so that all of them may ask for finalization.
  require(pipeline, requirements.finalization);
  const common = { doFn: { urn: DOFN_URN, payload: Buffer.from(JSON.stringify(carried)) }, requestsFinalization: true };
  if (definition.form === "keyed") return runnerApi.ParDoPayload.create({ ...common, ...keyedSpecs(definition, pipeline) });
  if (definition.form === "each") return runnerApi.ParDoPayload.create(common);
  require(pipeline, requirements.splittable);
  return runnerApi.ParDoPayload.create({ ...common, restrictionCoderId: pipeline.getCoderId(restrictionCoder()) });
}

function keyedSpecs(definition: AnyKeyedDefinition, pipeline: Pipeline): Pick<ParDoPayload, "stateSpecs" | "timerFamilySpecs"> {
  require(pipeline, requirements.stateful);
  const timerFamilyCoderId = pipeline.getCoderId(timerCoder(pipeline));
  const family = { timeDomain: runnerApi.TimeDomain_Enum.PROCESSING_TIME, timerFamilyCoderId };
  const cell = runnerApi.StateSpec.create({
    spec: { oneofKind: "bagSpec", bagSpec: { elementCoderId: pipeline.getCoderId(stateCoder()) } },
    protocol: { urn: BAG_STATE_URN, payload: new Uint8Array() },
  });
  return {
    stateSpecs: Object.fromEntries(Object.keys(definition.state).map((name) => [name, cell])),
    timerFamilySpecs: Object.fromEntries(definition.timers.map((name) => [name, family])),
  };
}

const BAG_STATE_URN = "beam:user_state:bag:v1";

/** What a source has yet to do: runners keep it as two texts of the harness's choice. */
function restrictionCoder(): Coder {
  return new KVCoder(new StrUtf8Coder(), new StrUtf8Coder()) as Coder;
}

function require(pipeline: Pipeline, requirement: string): void {
  const declared = pipeline.getProto().requirements;
  if (!declared.includes(requirement)) declared.push(requirement);
}
