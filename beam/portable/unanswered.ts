// Does a job service answer yet? Asked by a real call: a port that is open tells little.
import { type Callee, channelOptions, unary } from "./call.ts";
import { grpc, JobServiceClient } from "./sdk.ts";

const CALL_MS_MAX = 2_000;

/** Undefined where it told of its jobs, else what went wrong. Never rejects. */
export async function unanswered(callee: Callee): Promise<string | undefined> {
  const client = new JobServiceClient(callee.endpoint, grpc.credentials.createInsecure(), channelOptions);
  try {
    await unary(callee, "GetJobs", CALL_MS_MAX, (answered) => client.getJobs({}, answered));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    client.close();
  }
}
