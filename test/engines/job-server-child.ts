// What does a job server look like from outside? A process whose job service has no jobs, for the test of how one is started.
import { grpc, jobApi } from "../../beam/portable/sdk.ts";

const port = Number(process.argv[2]);
const { GetJobsRequest: Request, GetJobsResponse: Response } = jobApi;
const server = new grpc.Server();
server.addService(
  {
    getJobs: {
      path: "/org.apache.beam.model.job_management.v1.JobService/GetJobs",
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: object) => Buffer.from(Request.toBinary(value)),
      requestDeserialize: (bytes: Buffer) => Request.fromBinary(bytes),
      responseSerialize: (value: object) => Buffer.from(Response.toBinary(Response.create(value))),
      responseDeserialize: (bytes: Buffer) => Response.fromBinary(bytes),
    },
  },
  { getJobs: (_call: unknown, answer: (error: null, value: object) => void) => answer(null, { jobInfo: [] }) },
);
server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error !== null) process.exit(1);
});
