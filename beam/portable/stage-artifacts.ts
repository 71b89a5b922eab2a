// How does a runner get the files of a job? It asks for them over a stream that goes the other way (beam_artifact_api.proto); ours are in the image.
import { type Callee, channelOptions, RunnerError } from "./call.ts";
import { type ArtifactRequest, type ArtifactResponse, ArtifactStagingServiceClient, grpc, type ServiceError } from "./sdk.ts";

/** What is asked is answered at once; this is for a runner that stages for itself meanwhile. */
const STAGING_MS_MAX = 10 * 60_000;

/**
 * Answers what the runner asks of its artifacts, until it has asked all: each stands for itself, and we have no bytes of any. Rejects with
 * RunnerError, also where the runner wants the bytes of one.
 */
export function stageArtifacts({ endpoint, clock }: Callee, stagingToken: string): Promise<void> {
  const client = new ArtifactStagingServiceClient(endpoint, grpc.credentials.createInsecure(), channelOptions);
  return new Promise<void>((resolve, reject) => {
    const stream = client.reverseArtifactRetrievalService();
    const fail = (details: string, code = grpc.status.FAILED_PRECONDITION): void =>
      reject(new RunnerError(endpoint, "ReverseArtifactRetrievalService", { code, details }));
    const callOff = clock.after(STAGING_MS_MAX, () => {
      fail(`artifacts are not staged within ${STAGING_MS_MAX / 60_000} minutes`, grpc.status.DEADLINE_EXCEEDED);
      stream.cancel();
    });
    const answer = (response: ArtifactResponse["response"]) => stream.write({ stagingToken, isLast: false, response });

    stream.on("data", ({ request }: ArtifactRequest) => {
      if (request.oneofKind === "resolveArtifact") {
        const resolveArtifactResponse = { replacements: request.resolveArtifact.artifacts };
        answer({ oneofKind: "resolveArtifactResponse", resolveArtifactResponse });
      } else {
        fail(`${request.oneofKind} of ${name(request)} is asked, and all that a worker needs is in its image`);
        stream.cancel();
      }
    });
    // The runner ends its side when it has all; the SDK's own offer waits for more than that.
    stream.on("end", () => {
      callOff();
      stream.end();
      resolve();
    });
    stream.on("error", (error: ServiceError) => {
      callOff();
      fail(error.details, error.code);
    });
    // Says whose artifacts may be asked for.
    answer({ oneofKind: undefined });
  }).finally(() => client.close());
}

function name(request: ArtifactRequest["request"]): string {
  if (request.oneofKind !== "getArtifact") return "nothing";
  return `${request.getArtifact.artifact?.typeUrn} for ${request.getArtifact.artifact?.roleUrn}`;
}
