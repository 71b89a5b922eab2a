// What does a runner's provision service tell a worker? What the test says, over real gRPC on loopback.
import { grpc, type ProvisionInfo, provisionApi } from "../../../beam/portable/sdk.ts";

export interface FakeProvision {
  endpoint: string;
  /** Who asked, by the metadata of the call. */
  workers: string[];
  stop(): void;
}

type Answer = (error: null, value: object) => void;

export async function startFakeProvision(info: Partial<ProvisionInfo>): Promise<FakeProvision> {
  const workers: string[] = [];
  const { GetProvisionInfoRequest: Request, GetProvisionInfoResponse: Response } = provisionApi;
  const server = new grpc.Server();
  server.addService(
    {
      getProvisionInfo: {
        path: "/org.apache.beam.model.fn_execution.v1.ProvisionService/GetProvisionInfo",
        requestStream: false,
        responseStream: false,
        requestSerialize: (value: object) => Buffer.from(Request.toBinary(value)),
        requestDeserialize: (bytes: Buffer) => Request.fromBinary(bytes),
        responseSerialize: (value: object) => Buffer.from(Response.toBinary(Response.create(value))),
        responseDeserialize: (bytes: Buffer) => Response.fromBinary(bytes),
      },
    },
    {
      getProvisionInfo: ({ metadata }: { metadata: import("@grpc/grpc-js").Metadata }, answer: Answer) => {
        workers.push(...metadata.get("worker_id").map(String));
        answer(null, { info: provisionApi.ProvisionInfo.create(info) });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { endpoint: `127.0.0.1:${port}`, workers, stop: () => server.forceShutdown() };
}
