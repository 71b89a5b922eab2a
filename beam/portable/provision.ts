// What does a worker's runner say of the rest? Its provision service knows endpoints and pipeline options (beam_provision_api.proto).
import type { Clock } from "../../ports/clock.ts";
import { channelOptions, unary } from "./call.ts";
import { readPipelineOptions } from "./options.ts";
import { grpc, type ProvisionInfo, ProvisionServiceClient } from "./sdk.ts";
import type { ToldArguments, WorkerArguments } from "./worker-arguments.ts";

const CALL_MS_MAX = 60_000;

/**
 * What was told with what the provision service adds; what both name is as it was told. Rejects with RunnerError where that service does not
 * answer, and with an error where id or control endpoint stay unknown.
 */
export async function provisioned(told: ToldArguments, clock: Clock): Promise<WorkerArguments> {
  const { id, provisionEndpoint } = told;
  if (id === undefined) throw new Error("a worker needs --id");
  const info = provisionEndpoint === undefined ? undefined : await ask(provisionEndpoint, id, clock);
  const named = {
    controlEndpoint: told.controlEndpoint ?? info?.controlEndpoint?.url,
    loggingEndpoint: told.loggingEndpoint ?? info?.loggingEndpoint?.url,
    artifactEndpoint: told.artifactEndpoint ?? info?.artifactEndpoint?.url,
    provisionEndpoint,
  };
  const { controlEndpoint = "", ...others } = named;
  if (controlEndpoint === "") throw new Error("a worker needs --control_endpoint, or --provision_endpoint to ask for it");
  const known = Object.fromEntries(Object.entries(others).filter(([, url]) => url !== undefined && url !== ""));
  return { id, controlEndpoint, ...known, options: readPipelineOptions(info?.pipelineOptions) };
}

function ask(endpoint: string, id: string, clock: Clock): Promise<ProvisionInfo | undefined> {
  const client = new ProvisionServiceClient(endpoint, grpc.credentials.createInsecure(), channelOptions);
  const metadata = new grpc.Metadata();
  metadata.add("worker_id", id);
  return unary<{ info?: ProvisionInfo }>({ endpoint, clock }, "GetProvisionInfo", CALL_MS_MAX, (answered) =>
    client.getProvisionInfo({}, metadata, answered),
  )
    .then(({ info }) => info)
    .finally(() => client.close());
}
