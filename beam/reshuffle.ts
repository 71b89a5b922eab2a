// How are elements spread over the workers again? Beam's composite of pairing with a key, grouping, and unpairing.
import { PARDO_URN } from "./pardo.ts";
import {
  BytesCoder,
  type Coder,
  type Collected,
  createWindowingStrategyProto,
  globalWindows,
  groupByKey,
  KVCoder,
  type Pipeline,
  runnerApi,
  type TransformProto,
  withName,
} from "./sdk.ts";

/** Runners that know it do it their own way (Flink rebalances, Prism breaks fusion); the others carry out what is inside. */
export const RESHUFFLE_URN = "beam:transform:reshuffle:v1";

export function reshuffle() {
  return (input: Collected, pipeline: Pipeline, transform: TransformProto): Collected => {
    transform.spec = { urn: RESHUFFLE_URN, payload: new Uint8Array() };
    return input
      .apply(withName("Pair", pair()))
      .apply(withName("Group", groupByKey()))
      .apply(withName("Unpair", unpair(pipeline.context.getPCollectionCoderId(input), windowingOf(pipeline, input))));
  };
}

/** To the SDK harness: x becomes (some bytes that spread, x). */
const PAIR_URN = "gleaner:dofn:reshuffle_pair:v1";
/** To the SDK harness: (bytes, xs) becomes each x. */
const UNPAIR_URN = "gleaner:dofn:reshuffle_unpair:v1";

function pair() {
  return (input: Collected, pipeline: Pipeline, transform: TransformProto): Collected => {
    transform.spec = { urn: PARDO_URN, payload: dofn(PAIR_URN) };
    const paired = new KVCoder(new BytesCoder(), pipeline.context.getPCollectionCoder(input)) as Coder;
    return pipeline.createPCollectionInternal(paired, atOnce(pipeline));
  };
}

function unpair(coderId: string, windowingId: string) {
  return (_input: Collected, pipeline: Pipeline, transform: TransformProto): Collected => {
    transform.spec = { urn: PARDO_URN, payload: dofn(UNPAIR_URN) };
    const output = pipeline.createPCollectionInternal(pipeline.getCoder(coderId));
    // Set here, or the grouping's windowing would be inherited.
    proto(pipeline, output).windowingStrategyId = windowingId;
    return output;
  };
}

/** The default trigger would hold the elements of the global window back for ever. */
function atOnce(pipeline: Pipeline) {
  return {
    ...createWindowingStrategyProto(pipeline, globalWindows()),
    trigger: { trigger: { oneofKind: "always" as const, always: {} } },
    outputTime: runnerApi.OutputTime_Enum.EARLIEST_IN_PANE,
  };
}

function dofn(urn: string): Uint8Array {
  return runnerApi.ParDoPayload.toBinary(runnerApi.ParDoPayload.create({ doFn: { urn, payload: new Uint8Array() } }));
}

function windowingOf(pipeline: Pipeline, collection: Collected): string {
  return proto(pipeline, collection).windowingStrategyId;
}

function proto(pipeline: Pipeline, collection: Collected) {
  return pipeline.getProto().components!.pcollections[collection.getId()]!;
}
