// How does a runner get its pipeline options? As one Struct whose names are beam:option:<snake_case>:v1 (beam_job_api.proto, PrepareJobRequest).
import { type Struct, structApi } from "./sdk.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** By their names in camelCase. */
export type PipelineOptions = Readonly<Record<string, Json | undefined>>;

/** Throws where a name is not in camelCase. What is undefined is left out. */
export function pipelineOptions(options: PipelineOptions): Struct {
  const named = Object.entries(options).filter(([, value]) => value !== undefined);
  return structApi.Struct.fromJson(Object.fromEntries(named.map(([name, value]) => [optionUrn(name), value as never])));
}

/** The options that a worker is told of, by their names in camelCase again. Dataflow puts them a level deeper, and leaves the URNs away. */
export function readPipelineOptions(struct: Struct | undefined): Record<string, unknown> {
  const json = struct === undefined ? {} : (structApi.Struct.toJson(struct) as Record<string, unknown>);
  const options = isObject(json.options) ? json.options : json;
  return Object.fromEntries(Object.entries(options).map(([urn, value]) => [optionName(urn), value]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function optionUrn(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) throw new Error(`a pipeline option is named in camelCase, not '${name}'`);
  return `beam:option:${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}:v1`;
}

function optionName(urn: string): string {
  const snake = /^beam:option:([a-z0-9_]+):v1$/.exec(urn)?.[1] ?? urn;
  return snake.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export interface FlinkSettings {
  /** Default 1000. What was decided since the last checkpoint is decided again after a failure. */
  checkpointMs?: number;
  /** Default 50: data waits in a bundle until it ends, so this is the delay of each stage. */
  bundleMs?: number;
  parallelism?: number;
}

/** What a pipeline of our sources needs of Flink. Without the second line a checkpoint can swallow the source's start: see the decision on runners. */
export function flinkOptions({ checkpointMs = 1000, bundleMs = 50, parallelism }: FlinkSettings = {}): PipelineOptions {
  return {
    checkpointingInterval: checkpointMs,
    finishBundleBeforeCheckpointing: true,
    // So spelled in Beam.
    maxBundleTimeMills: bundleMs,
    ...(parallelism === undefined ? {} : { parallelism }),
  };
}
