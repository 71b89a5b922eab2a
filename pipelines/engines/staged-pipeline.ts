// Where has Beam's job service put the pipeline of a job template? The template says it, among the options of its workers.
import { readFile } from "node:fs/promises";
import { openBucket } from "../../io/objects/gcs/bucket.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";

export interface TemplateReading {
  clock: Clock;
  random: Random;
  /** Google Cloud's, for a template in a bucket. */
  project: string;
}

/** gs://BUCKET/OBJECT. Undefined where the template cannot be read here: it may be on the job service's machine. */
export async function stagedPipeline(template: string, reading: TemplateReading): Promise<string | undefined> {
  try {
    const bytes = await contents(template, reading);
    return bytes === undefined ? undefined : pipelineUrl(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return undefined;
  }
}

async function contents(template: string, reading: TemplateReading): Promise<Uint8Array | undefined> {
  const [, bucket, name] = /^gs:\/\/([^/]+)\/(.+)$/.exec(template) ?? [];
  if (bucket === undefined || name === undefined) return readFile(template);
  return (await openBucket({ ...reading, bucket })).read(name);
}

function pipelineUrl(template: { environment?: { sdkPipelineOptions?: { options?: { pipelineUrl?: unknown } } } }) {
  const url = template.environment?.sdkPipelineOptions?.options?.pipelineUrl;
  return typeof url === "string" ? url : undefined;
}
