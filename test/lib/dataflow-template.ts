// What has Beam's job service written down for Dataflow? A template, the pipeline that it leads to, and what stands in both.
import assert from "node:assert/strict";
import { readDoFn } from "../../beam/pardo.ts";
import { type PipelineProto, runnerApi } from "../../beam/sdk.ts";
import type { Emulators } from "../emulators/start.ts";

export interface Template {
  name: string;
  type: string;
  labels: Record<string, string>;
  environment: {
    experiments: string[];
    serviceAccountEmail: string;
    tempStoragePrefix: string;
    sdkPipelineOptions: { options: { pipelineUrl: string } & Record<string, never> };
    workerPools: {
      numWorkers: number;
      autoscalingSettings: { maxNumWorkers: number };
      machineType: string;
      ipConfiguration: string;
      subnetwork: string;
      workerHarnessContainerImage: string;
      sdkHarnessContainerImages: { containerImage: string; useSingleCorePerContainer?: boolean; capabilities: string[] }[];
    }[];
  };
}

/** Of ours, by their labels. */
export function parDos(pipeline: PipelineProto) {
  const ours = Object.values(pipeline.components!.transforms).filter(({ spec }) => spec?.urn === "beam:transform:pardo:v1");
  return new Map(
    ours
      .map(({ uniqueName, spec }) => [uniqueName, runnerApi.ParDoPayload.fromBinary(spec!.payload)] as const)
      .filter(([, payload]) => readDoFn(payload) !== undefined),
  );
}

/** An object of the emulator, by its gs:// name. */
export async function stored(emulators: Emulators, url: string): Promise<Uint8Array> {
  const [, bucket, name] = /^gs:\/\/([^/]+)\/(.+)$/.exec(url) ?? [];
  const answer = await fetch(
    `http://${emulators.endpoint("storage")}/storage/v1/b/${bucket}/o/${encodeURIComponent(name!)}?alt=media`,
  );
  assert.equal(answer.status, 200, url);
  return answer.bytes();
}
