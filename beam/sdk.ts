// What do we take from npm apache-beam, and how does it load on today's Node? The one door to it.
import { createRequire } from "node:module";

type Internal = typeof import("apache-beam/internal/pipeline");
type Values = typeof import("apache-beam/pvalue");
type Naming = typeof import("apache-beam/transforms/transform");
type Primitives = typeof import("apache-beam/transforms/internal");
type Flattening = typeof import("apache-beam/transforms/flatten");
type Windowing = typeof import("apache-beam/transforms/window");
type Windows = typeof import("apache-beam/transforms/windowings");
type RequiredCoders = typeof import("apache-beam/coders/required_coders");
type StandardCoders = typeof import("apache-beam/coders/standard_coders");
type Protos = typeof import("apache-beam/proto/beam_runner_api");

export type Pipeline = import("apache-beam/internal/pipeline").Pipeline;
export type Collected = import("apache-beam/pvalue").PCollection<unknown>;
export type Coder = import("apache-beam/coders/coders").Coder<unknown>;
export type PipelineProto = import("apache-beam/proto/beam_runner_api").Pipeline;
export type TransformProto = import("apache-beam/proto/beam_runner_api").PTransform;
export type ParDoPayload = import("apache-beam/proto/beam_runner_api").ParDoPayload;

const require = createRequire(import.meta.url);

// serialize-closures, which the SDK loads, calls util.isPrimitive; Node 23 removed it.
const util: { isPrimitive?: (value: unknown) => boolean } = require("node:util");
util.isPrimitive ??= (value) => value === null || (typeof value !== "object" && typeof value !== "function");

// Its modules import each other in a circle that closes when pvalue comes first. The index would do as well, and load gRPC and Google's clients.
require("apache-beam/pvalue");

export const { Pipeline }: Internal = require("apache-beam/internal/pipeline");
export const { P, Root }: Values = require("apache-beam/pvalue");
export const { withName }: Naming = require("apache-beam/transforms/transform");
export const { groupByKey, impulse }: Primitives = require("apache-beam/transforms/internal");
export const { flatten }: Flattening = require("apache-beam/transforms/flatten");
export const { createWindowingStrategyProto }: Windowing = require("apache-beam/transforms/window");
export const { globalWindows }: Windows = require("apache-beam/transforms/windowings");
export const { BytesCoder, GlobalWindowCoder, KVCoder }: RequiredCoders = require("apache-beam/coders/required_coders");
export const { StrUtf8Coder }: StandardCoders = require("apache-beam/coders/standard_coders");
export const runnerApi: Protos = require("apache-beam/proto/beam_runner_api");
