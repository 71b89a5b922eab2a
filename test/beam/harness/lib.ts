// What are the harness's tests made of? Stages cut from a pipeline's proto, elements in the SDK's own coders, and a harness at a fake runner.
import { createRequire } from "node:module";
import type { TestContext } from "node:test";
import type { Keyed } from "../../../beam/dofn.ts";
import { type HarnessOptions, startHarness } from "../../../beam/harness/start-harness.ts";
import type { AnyDefinition } from "../../../beam/pardo.ts";
import { buildPipeline, type PipelineBuilder } from "../../../beam/pipeline.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import type { PipelineProto } from "../../../beam/sdk.ts";
import { systemClock } from "../../../io/clock.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import { type Codec, decode, encode } from "../../../schemas/codec.ts";
import { type Word, word } from "../lib.ts";
import { type Descriptor, type FakeOptions, startFakeRunner } from "./fake-runner.ts";

// biome-ignore lint/suspicious/noExplicitAny: the SDK's coders are typed for its own values
type Any = any;

const require = createRequire(import.meta.url);
// What the SDK itself depends on.
const ofSdk = createRequire(require.resolve("apache-beam/pvalue"));
const { Reader, Writer }: Any = ofSdk("protobufjs");
const Long: Any = ofSdk("long");
const { Context }: typeof import("apache-beam/coders/coders") = require("apache-beam/coders/coders");
const sdk: typeof import("apache-beam/coders/required_coders") = require("apache-beam/coders/required_coders");
const { StrUtf8Coder }: typeof import("apache-beam/coders/standard_coders") = require("apache-beam/coders/standard_coders");
const { GlobalWindow }: typeof import("apache-beam/values") = require("apache-beam/values");
const fnApi: typeof import("apache-beam/proto/beam_fn_api") = require("apache-beam/proto/beam_fn_api");

const texts = new StrUtf8Coder();
const plain = new sdk.FullWindowedValueCoder(new sdk.BytesCoder() as Any, sdk.GlobalWindowCoder.INSTANCE as Any);
const pairs = new sdk.FullWindowedValueCoder(
  new sdk.KVCoder(texts, new sdk.BytesCoder()) as Any,
  sdk.GlobalWindowCoder.INSTANCE as Any,
);

/** An element as tests see it: what it says and when (Unix ms). */
export interface Seen<T> {
  at: number;
  value: T;
}

function encodeAll(coder: Any, values: readonly Seen<unknown>[]): Uint8Array {
  const writer = new Writer();
  const windows = [new GlobalWindow()];
  const pane = sdk.PaneInfoCoder.ONE_AND_ONLY_FIRING;
  for (const { at, value } of values)
    coder.encode({ value, timestamp: Long.fromNumber(at), windows, pane }, writer, Context.needsDelimiters);
  return writer.finish();
}

function decodeAll<T>(coder: Any, bytes: Uint8Array | undefined, read: (value: Any) => T): Seen<T>[] {
  const reader = new Reader(bytes ?? new Uint8Array());
  const seen: Seen<T>[] = [];
  while (reader.pos < reader.len) {
    const { value, timestamp } = coder.decode(reader, Context.needsDelimiters);
    seen.push({ at: timestamp.toNumber(), value: read(value) });
  }
  return seen;
}

export const AT = 1_700_000_000_000;

export const wordBytes = (...spelled: string[]): Uint8Array =>
  encodeAll(
    plain,
    spelled.map((one) => ({ at: AT, value: encode(word, { word: one }) })),
  );
export const keyedBytes = (...of: [key: string, word: string][]): Uint8Array =>
  encodeAll(
    pairs,
    of.map(([key, one]) => ({ at: AT, value: { key, value: encode(word, { word: one }) } })),
  );
export const readWords = (bytes: Uint8Array | undefined): string[] =>
  decodeAll(plain, bytes, (value): Word => decode(word, value)).map(({ value }) => value.word);
export const readKeyed = (bytes: Uint8Array | undefined): Seen<Keyed<string>>[] =>
  decodeAll(pairs, bytes, ({ key, value }) => ({ key, value: decode(word, value).word }));
export const readPairs = <T>(bytes: Uint8Array | undefined, codec: Codec<T>): Seen<Keyed<T>>[] =>
  decodeAll(pairs, bytes, ({ key, value }) => ({ key, value: decode(codec, value) }));
export const readPlain = (bytes: Uint8Array | undefined): Seen<Uint8Array>[] => decodeAll(plain, bytes, (value) => value);

export interface SeenTimer {
  key: string;
  fireAt: number | undefined;
  holdAt?: number;
}

export function timerBytes(...timers: { key: string; fireAt?: number; holdAt?: number; clear?: boolean }[]): Uint8Array {
  const writer: Any = new Writer();
  for (const { key, fireAt = AT, holdAt = AT, clear = false } of timers) {
    texts.encode(key, writer, Context.needsDelimiters);
    texts.encode("", writer, Context.needsDelimiters);
    new sdk.IterableCoder(sdk.GlobalWindowCoder.INSTANCE as Any).encode(
      [new GlobalWindow()] as Any,
      writer,
      Context.needsDelimiters,
    );
    writer.bool(clear);
    if (clear) continue;
    sdk.InstantCoder.INSTANCE.encode(Long.fromNumber(fireAt), writer, Context.needsDelimiters);
    sdk.InstantCoder.INSTANCE.encode(Long.fromNumber(holdAt), writer, Context.needsDelimiters);
    sdk.PaneInfoCoder.INSTANCE.encode(sdk.PaneInfoCoder.ONE_AND_ONLY_FIRING, writer, Context.needsDelimiters);
  }
  return writer.finish();
}

export function readTimers(bytes: Uint8Array | undefined): SeenTimer[] {
  const reader: Any = new Reader(bytes ?? new Uint8Array());
  const seen: SeenTimer[] = [];
  while (reader.pos < reader.len) {
    const key = texts.decode(reader, Context.needsDelimiters);
    texts.decode(reader, Context.needsDelimiters);
    new sdk.IterableCoder(sdk.GlobalWindowCoder.INSTANCE as Any).decode(reader, Context.needsDelimiters);
    if (reader.bool()) {
      seen.push({ key, fireAt: undefined });
      continue;
    }
    const fireAt = sdk.InstantCoder.INSTANCE.decode(reader, Context.needsDelimiters).toNumber();
    const holdAt = sdk.InstantCoder.INSTANCE.decode(reader, Context.needsDelimiters).toNumber();
    sdk.PaneInfoCoder.INSTANCE.decode(reader, Context.needsDelimiters);
    seen.push({ key, fireAt, holdAt });
  }
  return seen;
}

/**
 * The leaves of a pipeline as one stage: what comes from outside them has a source `in`, what leaves them or is taken by nobody a sink
 * `out:COLLECTION`. `only`: the labels of those that are in it.
 */
export function stageOf(build: (p: PipelineBuilder) => void, options: StageOptions): Descriptor {
  return stageIn(buildPipeline(build), options);
}

interface StageOptions {
  only: string[];
  endpoint: string;
  id?: string;
}

export function stageIn(proto: PipelineProto, { only, endpoint, id = "stage" }: StageOptions): Descriptor {
  const components = proto.components!;
  const transforms: Descriptor["transforms"] = {};
  for (const [name, transform] of Object.entries(components.transforms))
    if (only.includes(transform.uniqueName)) transforms[name] = transform;
  const produced = new Set(Object.values(transforms).flatMap((transform) => Object.values(transform.outputs)));
  const consumed = new Set(Object.values(transforms).flatMap((transform) => Object.values(transform.inputs)));
  const descriptor = fnApi.ProcessBundleDescriptor.create({ ...components, id, transforms, environments: {} });
  const port = { url: endpoint } as never;
  descriptor.stateApiServiceDescriptor = port;
  descriptor.timerApiServiceDescriptor = port;
  const add = (name: string, urn: string, collection: string, ends: "inputs" | "outputs") => {
    const window = Object.keys(components.coders).find((coder) => components.coders[coder]!.spec?.urn === GLOBAL) ?? "window";
    descriptor.coders[window] ??= { spec: { urn: GLOBAL, payload: new Uint8Array() }, componentCoderIds: [] };
    const coderId = `windowed:${collection}`;
    const componentCoderIds = [components.pcollections[collection]!.coderId, window];
    descriptor.coders[coderId] = {
      spec: { urn: "beam:coder:windowed_value:v1", payload: new Uint8Array() },
      componentCoderIds,
    };
    const payload = fnApi.RemoteGrpcPort.toBinary({ apiServiceDescriptor: port, coderId });
    const one = { uniqueName: name, spec: { urn, payload }, inputs: {}, outputs: {}, [ends]: { x: collection } };
    descriptor.transforms[name] = { ...one, subtransforms: [], displayData: [], environmentId: "", annotations: {} };
  };
  for (const collection of consumed) if (!produced.has(collection)) add("in", "beam:runner:source:v1", collection, "outputs");
  for (const collection of produced)
    if (!consumed.has(collection)) add(`out:${nameOf(components, collection)}`, "beam:runner:sink:v1", collection, "inputs");
  return descriptor;
}

const GLOBAL = "beam:coder:global_window:v1";

function nameOf(components: NonNullable<ReturnType<typeof buildPipeline>["components"]>, collection: string): string {
  for (const { uniqueName, outputs } of Object.values(components.transforms))
    for (const [output, id] of Object.entries(outputs)) if (id === collection) return `${uniqueName}.${output}`;
  return collection;
}

/** The harness's and the tests': two clocks of one machine may differ by a millisecond. */
export const clock = systemClock();

export const silent: Metrics = { count: () => undefined, gauge: () => undefined, observe: () => undefined };

/** A harness with these DoFns at a fake runner; both end with the test. */
export async function startAtFake(
  t: TestContext,
  definitions: Parameters<typeof dofnRegistry>[0],
  options: { fake?: FakeOptions } & Partial<HarnessOptions<never>> = {},
) {
  const { fake, ...given } = options;
  const runner = await startFakeRunner(fake);
  const logged: string[] = [];
  const harness = startHarness({
    ...{ id: "worker-1", controlEndpoint: runner.endpoint, registry: dofnRegistry(definitions), services: undefined as never },
    ...{ clock, metrics: silent, log: (level, message) => logged.push(`${level}: ${message}`) },
    ...given,
  });
  t.after(async () => {
    await harness.stop();
    runner.stop();
  });
  return { runner, harness, logged };
}

type SdfPart =
  | "sdf_pair_with_restriction"
  | "sdf_split_and_size_restrictions"
  | "sdf_process_sized_element_and_restrictions"
  | "sdf_truncate_sized_restrictions";

/** One part of an expanded source as a stage: `in`, the transform `part`, and a sink for each of its outputs. */
export function sourceStage(definition: AnyDefinition, part: SdfPart, endpoint: string): Descriptor {
  const build = (p: PipelineBuilder) => void p.source("Source", definition as never, {} as never);
  const descriptor = stageOf(build, { only: ["Source"], endpoint, id: part });
  const [[name, source] = ["", undefined]] = Object.entries(descriptor.transforms).filter(
    ([, one]) => one.uniqueName === "Source",
  );
  const empty = new Uint8Array();
  const coder = (id: string, urn: string, ...componentCoderIds: string[]) => {
    descriptor.coders[id] = { spec: { urn: `beam:coder:${urn}:v1`, payload: empty }, componentCoderIds };
  };
  coder("text", "string_utf8");
  coder("bytes", "bytes");
  coder("double", "double");
  coder("window", "global_window");
  coder("restriction", "kv", "text", "text");
  coder("restricted", "kv", "bytes", "restriction");
  coder("sized", "kv", "restricted", "double");
  for (const id of ["bytes", "restricted", "sized"]) coder(`windowed ${id}`, "windowed_value", id, "window");
  const [taken, given] = {
    sdf_pair_with_restriction: ["bytes", "restricted"],
    sdf_split_and_size_restrictions: ["restricted", "sized"],
    sdf_process_sized_element_and_restrictions: ["sized", undefined],
    sdf_truncate_sized_restrictions: ["sized", "sized"],
  }[part] as [string, string?];
  const port = (coderId: string) =>
    fnApi.RemoteGrpcPort.toBinary({ apiServiceDescriptor: { url: endpoint } as never, coderId });
  descriptor.transforms.in!.spec!.payload = port(`windowed ${taken}`);
  descriptor.transforms[name] = { ...source!, spec: { urn: `beam:transform:${part}:v1`, payload: source!.spec!.payload } };
  if (given !== undefined)
    for (const [id, one] of Object.entries(descriptor.transforms))
      if (id.startsWith("out:")) one.spec!.payload = port(`windowed ${given}`);
  return descriptor;
}

const restrictions = new sdk.KVCoder(new sdk.BytesCoder() as Any, new sdk.KVCoder(texts, texts) as Any);
const { DoubleCoder }: typeof import("apache-beam/coders/standard_coders") = require("apache-beam/coders/standard_coders");
const restricted = new sdk.FullWindowedValueCoder(restrictions as Any, sdk.GlobalWindowCoder.INSTANCE as Any);
const sized = new sdk.FullWindowedValueCoder(
  new sdk.KVCoder(restrictions as Any, new DoubleCoder()) as Any,
  sdk.GlobalWindowCoder.INSTANCE as Any,
);

/** The first thing a runner makes: no bytes, at the beginning of time. */
export const impulseBytes = (): Uint8Array => encodeAll(plain, [{ at: 0, value: new Uint8Array() }]);
export const restrictedBytes = (watermark = ""): Uint8Array =>
  encodeAll(restricted, [{ at: 0, value: { key: new Uint8Array(), value: { key: "", value: watermark } } }]);
export const sizedBytes = (watermark = ""): Uint8Array =>
  encodeAll(sized, [{ at: 0, value: { key: { key: new Uint8Array(), value: { key: "", value: watermark } }, value: 1 } }]);
export const readRestricted = (bytes: Uint8Array | undefined) => decodeAll(restricted, bytes, (value) => value);
export const readSized = (bytes: Uint8Array | undefined) => decodeAll(sized, bytes, (value) => value);
