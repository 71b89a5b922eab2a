// How do messages enter a job where the runner reads Pub/Sub itself? Its own read stands for our source, which then only takes messages apart.
import type { Codec } from "../../schemas/codec.ts";
import { bytes } from "../../schemas/codec.ts";
import type { DoFnDefinition } from "../dofn.ts";
import { DOFN_URN, type DoFnPayload, PARDO_URN, readDoFn, requirements } from "../pardo.ts";
import { type ParDoPayload, type PipelineProto, runnerApi, type TransformProto } from "../sdk.ts";

export const PUBSUB_READ_URN = "beam:transform:pubsub_read:v1";

export interface PubsubRead {
  /** projects/PROJECT/subscriptions/NAME */
  subscription: string;
  /** Takes each message's body and gives what the source would have given; its input is `messageBody`. */
  // biome-ignore lint/suspicious/noExplicitAny: of outputs, configuration and services of every type
  decoder: Pick<DoFnDefinition<Uint8Array, any, any, any>, "name" | "outputs">;
}

/**
 * The pipeline with each of its sources, which `reads` names by their labels, replaced. The runner acknowledges a message when what it led to
 * in the first stage is kept. Throws where a source is not named, a name is no source, or decoder and source differ in their outputs.
 */
export function withPubsubReads(proto: PipelineProto, reads: Readonly<Record<string, PubsubRead>>): PipelineProto {
  const copy = runnerApi.Pipeline.clone(proto);
  const { transforms, pcollections } = copy.components!;
  const sources = Object.values(transforms).flatMap((transform) => sourceOf(transform) ?? []);
  const unknown = Object.keys(reads).filter((label) => !sources.some(({ transform }) => transform.uniqueName === label));
  if (unknown.length > 0) throw new Error(`the pipeline has no source ${unknown.join(", ")}`);
  for (const { transform, payload, carried } of sources) {
    const label = transform.uniqueName;
    const read = reads[label];
    if (read === undefined) throw new Error(`no subscription is given for the source ${label}`);
    decode(transform, payload, carried, read);
    const [input = ""] = Object.values(transform.inputs);
    const impulse = Object.values(transforms).find(({ outputs }) => Object.values(outputs).includes(input));
    if (impulse === undefined) throw new Error(`nothing feeds the source ${label}`);
    readPubsub(impulse, `${label}.Pubsub`, read);
    // Bytes, as those of the impulse.
    pcollections[input]!.isBounded = runnerApi.IsBounded_Enum.UNBOUNDED;
  }
  copy.requirements = copy.requirements.filter((requirement) => requirement !== requirements.splittable);
  return copy;
}

/**
 * A message's whole body, for a decoder's input: that it is of the codec is for the decoder to find out. Only a body of another version of the
 * codec is not read: its bundle is tried again, until a worker of that version takes it.
 */
export function messageBody(codec: Codec<unknown>): Codec<Uint8Array> {
  const version = codec.version ?? 1;
  // What encode() writes before a value.
  const head = Uint8Array.of(version);
  return {
    shape: bytes.shape,
    version,
    write: (writer, body) => writer.raw(body.subarray(head.length)),
    read: (reader) => Buffer.concat([head, reader.raw(reader.left)]),
    fault: bytes.fault,
  };
}

interface Source {
  transform: TransformProto;
  payload: ParDoPayload;
  carried: DoFnPayload;
}

function sourceOf(transform: TransformProto): Source | undefined {
  if (transform.spec?.urn !== PARDO_URN) return undefined;
  const payload = runnerApi.ParDoPayload.fromBinary(transform.spec.payload);
  const carried = readDoFn(payload);
  return carried?.form === "source" ? { transform, payload, carried } : undefined;
}

function decode(transform: TransformProto, payload: ParDoPayload, { config }: DoFnPayload, { decoder }: PubsubRead): void {
  const [given, wanted] = [decoder.outputs, transform.outputs].map((outputs) => Object.keys(outputs).sort().join(", "));
  if (given !== wanted)
    throw new Error(`${transform.uniqueName} gives ${wanted}, and its decoder '${decoder.name}' gives ${given || "nothing"}`);
  const carried: DoFnPayload = { name: decoder.name, form: "each", config };
  const doFn = { urn: DOFN_URN, payload: Buffer.from(JSON.stringify(carried)) };
  const decoding = { ...payload, doFn, restrictionCoderId: "" };
  transform.spec = { urn: PARDO_URN, payload: runnerApi.ParDoPayload.toBinary(decoding) };
}

function readPubsub(transform: TransformProto, label: string, { subscription }: PubsubRead): void {
  if (!/^projects\/[^/]+\/subscriptions\/[^/]+$/.test(subscription))
    throw new Error(`a subscription is projects/PROJECT/subscriptions/NAME, not '${subscription}'`);
  const payload = runnerApi.PubSubReadPayload.create({ subscription });
  transform.uniqueName = label;
  transform.spec = { urn: PUBSUB_READ_URN, payload: runnerApi.PubSubReadPayload.toBinary(payload) };
  // The runner's own work.
  transform.environmentId = "";
}
