// What does a runner say to a submission? A job service in this process whose answers the test gives, over real gRPC on loopback.
import { artifactApi, grpc, jobApi } from "../../../beam/portable/sdk.ts";

type Method = (typeof jobApi.JobService)["methods"][number];
type PrepareJobRequest = import("apache-beam/proto/beam_job_api").PrepareJobRequest;
type Sent = import("apache-beam/proto/beam_artifact_api").ArtifactResponseWrapper;
type Asked = import("apache-beam/proto/beam_artifact_api").ArtifactRequestWrapper;

/** A stream to the client, as far as tests send to it. */
export interface Outlet<T> {
  write(message: T): void;
  end(): void;
  /** Breaks it off. */
  emit(event: "error", error: { code: number; details: string }): void;
}

type Answer = (error: { code: number; details: string } | null, value?: object) => void;
interface UnaryCall<T> {
  request: T;
}

export interface Script {
  prepare?: (request: PrepareJobRequest, answer: Answer) => void;
  /** What the runner asks of artifacts; then it ends its side. */
  asks?: readonly Asked["request"][];
  run?: (answer: Answer) => void;
  states?: (outlet: Outlet<{ state: number }>, opened: number) => void;
  messages?: (outlet: Outlet<object>) => void;
  getState?: (answer: Answer, asked: number) => void;
  cancel?: (answer: Answer) => void;
  /** Unimplemented where not given. */
  drain?: (answer: Answer) => void;
  metrics?: (answer: Answer) => void;
}

export interface FakeJobService {
  endpoint: string;
  prepared: PrepareJobRequest[];
  /** What was sent on the staging stream. */
  staged: Sent[];
  stop(): void;
}

export async function startFakeJobService(script: Script = {}): Promise<FakeJobService> {
  const prepared: PrepareJobRequest[] = [];
  const staged: Sent[] = [];
  let opened = 0;
  let asked = 0;
  let endpoint = "";
  const server = new grpc.Server();
  const { drain } = script;
  server.addService(definition(jobApi.JobService), {
    Prepare: ({ request }: UnaryCall<PrepareJobRequest>, answer: Answer) => {
      prepared.push(request);
      const { asks } = script;
      const response = { preparationId: "prepared", stagingSessionToken: "token" };
      const staging = asks === undefined ? {} : { artifactStagingEndpoint: { url: endpoint } };
      if (script.prepare === undefined) answer(null, jobApi.PrepareJobResponse.create({ ...response, ...staging }));
      else script.prepare(request, answer);
    },
    Run: (_call: unknown, answer: Answer) => (script.run === undefined ? answer(null, { jobId: "job" }) : script.run(answer)),
    GetStateStream: (outlet: Outlet<{ state: number }>) => script.states?.(outlet, ++opened),
    GetMessageStream: (outlet: Outlet<object>) => (script.messages === undefined ? outlet.end() : script.messages(outlet)),
    GetState: (_call: unknown, answer: Answer) => {
      asked += 1;
      if (script.getState === undefined) answer(null, { state: jobApi.JobState_Enum.RUNNING });
      else script.getState(answer, asked);
    },
    Cancel: (_call: unknown, answer: Answer) =>
      script.cancel === undefined ? answer(null, { state: jobApi.JobState_Enum.CANCELLING }) : script.cancel(answer),
    GetJobMetrics: (_call: unknown, answer: Answer) => script.metrics?.(answer),
  });
  server.addService(definition(artifactApi.ArtifactStagingService), {
    ReverseArtifactRetrievalService: (stream: Outlet<Asked> & { on(event: "data", take: (sent: Sent) => void): void }) => {
      const asks = [...(script.asks ?? [])];
      // As runners do: the first message names the token, and each further one answers; then the runner ends, whatever the client does.
      stream.on("data", (sent) => {
        staged.push(sent);
        const next = asks.shift();
        if (next === undefined) stream.end();
        else stream.write({ request: next });
      });
    },
  });
  if (drain !== undefined) server.addService(drainDefinition, { Drain: (_call: unknown, answer: Answer) => drain(answer) });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  endpoint = `127.0.0.1:${port}`;
  return { endpoint, prepared, staged, stop: () => server.forceShutdown() };
}

function definition(service: { typeName: string; methods: readonly Method[] }) {
  return Object.fromEntries(service.methods.map((method) => [method.name, methodDefinition(service.typeName, method)]));
}

function methodDefinition(typeName: string, { name, I, O, clientStreaming = false, serverStreaming = false }: Method) {
  return {
    path: `/${typeName}/${name}`,
    requestStream: clientStreaming,
    responseStream: serverStreaming,
    requestSerialize: (value: object) => Buffer.from(I.toBinary(value)),
    requestDeserialize: (bytes: Buffer) => I.fromBinary(bytes),
    responseSerialize: (value: object) => Buffer.from(O.toBinary(O.create(value))),
    responseDeserialize: (bytes: Buffer) => O.fromBinary(bytes),
  };
}

/** Not among the SDK's protos. */
const drainDefinition = {
  Drain: methodDefinition("org.apache.beam.model.job_management.v1.JobService", {
    ...jobApi.JobService.methods.find(({ name }) => name === "Cancel")!,
    name: "Drain",
  }),
};
