// How does a pipeline become a job on Prism, Flink or Dataflow? Prepare, artifacts, Run, over Beam's job API (beam_job_api.proto).
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { type PipelineProto, runnerApi } from "../sdk.ts";
import { type Callee, channelOptions, RunnerError, unary } from "./call.ts";
import { askState, followJob, type JobEnd } from "./follow.ts";
import { type JobState, jobState } from "./job-state.ts";
import { type Metric, readMetric } from "./metrics.ts";
import { type PipelineOptions, pipelineOptions } from "./options.ts";
import { type CancelJobResponse, grpc, type JobService, JobServiceClient, jobApi, type MonitoringInfo } from "./sdk.ts";
import { stageArtifacts } from "./stage-artifacts.ts";

export interface Submission {
  /** host:port of the job service. */
  endpoint: string;
  /** With its environments set: see environment.ts. */
  proto: PipelineProto;
  /** Small letters, digits and hyphens, a letter first: Dataflow's rule. */
  jobName: string;
  options?: PipelineOptions;
  clock: Clock;
  log: Log;
}

export type Drained = { kind: "draining"; state: JobState } | { kind: "unsupported" };

/** Operations reject with RunnerError. */
export interface PortableJob {
  readonly id: string;
  /** Never rejects. */
  readonly ended: Promise<JobEnd>;
  state(): Promise<JobState>;
  /** Resolves with the state that the runner then tells; it may end the job later, or not (Flink's mini-cluster). */
  cancel(): Promise<JobState>;
  /** Takes nothing new in, finishes what is under way. Runners that cannot are left as they are. */
  drain(): Promise<Drained>;
  /** Flink tells none before a checkpoint, Dataflow's job service none at all. */
  metrics(): Promise<{ attempted: Metric[]; committed: Metric[] }>;
  /** Ends the watch, not the job; `ended` then never resolves. */
  leave(): void;
}

/** Prism judges the whole pipeline, Flink's JVM may be cold. */
const PREPARE_MS_MAX = 2 * 60_000;
const RUN_MS_MAX = 2 * 60_000;
const CALL_MS_MAX = 30_000;

/** The job when it was accepted. Rejects with RunnerError; throws where the job's name or an option is not well-formed. */
export async function submit({ endpoint, proto, jobName, options = {}, clock, log }: Submission): Promise<PortableJob> {
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(jobName))
    throw new Error(`a job is named by small letters, digits and hyphens, 63 at most, not '${jobName}'`);
  const request = jobApi.PrepareJobRequest.create({
    pipeline: proto,
    pipelineOptions: pipelineOptions({ streaming: isStreaming(proto), jobName, ...options }),
    jobName,
  });
  const callee: Callee = { endpoint, clock };
  const client = new JobServiceClient(endpoint, grpc.credentials.createInsecure(), channelOptions);
  try {
    const prepared = await unary<{
      preparationId: string;
      artifactStagingEndpoint?: { url: string };
      stagingSessionToken: string;
    }>(callee, "Prepare", PREPARE_MS_MAX, (answered) => client.prepare(request, answered));
    const staging = prepared.artifactStagingEndpoint?.url ?? "";
    if (staging !== "") await stageArtifacts({ endpoint: staging, clock }, prepared.stagingSessionToken);
    const run = { preparationId: prepared.preparationId, retrievalToken: "" };
    const { jobId } = await unary<{ jobId: string }>(callee, "Run", RUN_MS_MAX, (answered) => client.run(run, answered));
    log("info", "the job is submitted", { endpoint, job: jobId, name: jobName });
    return handle(client, callee, jobId, log);
  } catch (error) {
    client.close();
    throw error;
  }
}

function handle(client: JobService, callee: Callee, jobId: string, log: Log): PortableJob {
  const followed = followJob({ client, callee, jobId, log });
  return {
    id: jobId,
    ended: followed.ended,
    state: () => askState({ client, callee, jobId }),
    async cancel() {
      const call = unary<CancelJobResponse>(callee, "Cancel", CALL_MS_MAX, (answered) => client.cancel({ jobId }, answered));
      return jobState((await call).state);
    },
    drain: () => drain(client, callee, jobId),
    async metrics() {
      const call = unary<{ metrics?: Record<"attempted" | "committed", MonitoringInfo[]> }>(
        callee,
        "GetJobMetrics",
        CALL_MS_MAX,
        (answered) => client.getJobMetrics({ jobId }, answered),
      );
      const { attempted = [], committed = [] } = (await call).metrics ?? {};
      return { attempted: attempted.map(readMetric), committed: committed.map(readMetric) };
    },
    leave() {
      followed.leave();
      client.close();
    },
  };
}

/** Younger than the SDK's protos, and of the same shape as Cancel. */
const DRAIN_PATH = "/org.apache.beam.model.job_management.v1.JobService/Drain";

async function drain(client: JobService, callee: Callee, jobId: string): Promise<Drained> {
  const { CancelJobRequest: Request, CancelJobResponse: Response } = jobApi;
  try {
    const { state } = await unary<CancelJobResponse>(callee, "Drain", CALL_MS_MAX, (answered) =>
      client.makeUnaryRequest(
        DRAIN_PATH,
        (request: { jobId: string }) => Buffer.from(Request.toBinary(request)),
        (bytes) => Response.fromBinary(bytes),
        { jobId },
        answered,
      ),
    );
    return { kind: "draining", state: jobState(state) };
  } catch (error) {
    if (error instanceof RunnerError && error.code === grpc.status.UNIMPLEMENTED) return { kind: "unsupported" };
    throw error;
  }
}

function isStreaming(proto: PipelineProto): boolean {
  const collections = Object.values(proto.components?.pcollections ?? {});
  return collections.some(({ isBounded }) => isBounded === runnerApi.IsBounded_Enum.UNBOUNDED);
}
