// What does the harness meet in its tests? A runner in this process: control, data, state and logging over real gRPC, scripted bundle by bundle.
import { createRequire } from "node:module";
import type * as Grpc from "@grpc/grpc-js";

type Servers = typeof import("apache-beam/proto/beam_fn_api.grpc-server");
type Protos = typeof import("apache-beam/proto/beam_fn_api");
export type Descriptor = import("apache-beam/proto/beam_fn_api").ProcessBundleDescriptor;
type Request = import("apache-beam/proto/beam_fn_api").InstructionRequest["request"];
type Response = import("apache-beam/proto/beam_fn_api").InstructionResponse;
type Elements = import("apache-beam/proto/beam_fn_api").Elements;
type StateRequest = import("apache-beam/proto/beam_fn_api").StateRequest;
type StateResponse = import("apache-beam/proto/beam_fn_api").StateResponse;
type Call<In, Out> = Grpc.ServerDuplexStream<In, Out>;

const require = createRequire(import.meta.url);
const grpc: typeof Grpc = require("@grpc/grpc-js");
const servers: Servers = require("apache-beam/proto/beam_fn_api.grpc-server");
const protos: Protos = require("apache-beam/proto/beam_fn_api");

export interface FakeOptions {
  /** Each answer of the state plane comes so late. */
  stateDelayMs?: number;
  /** Bytes of one get's answer, at most; the rest by continuation token. */
  stateChunk?: number;
  /** Answers a state request with an error, or never. */
  stateFault?: (request: StateRequest) => string | "silent" | undefined;
}

export interface BundleInput {
  descriptor: string;
  /** Frames of each source, in order; the end of each source is sent after them. */
  data?: Record<string, Uint8Array[]>;
  /** By `transform/family`. */
  timers?: Record<string, Uint8Array[]>;
  /** Families of the stage without timers in this bundle, as `transform/family`. */
  families?: string[];
  token?: string;
  /** Sends frames and ends alike with the request itself. */
  embedded?: boolean;
}

/** What came back of a bundle. */
export interface BundleOutput {
  id: string;
  error: string;
  response: import("apache-beam/proto/beam_fn_api").ProcessBundleResponse;
  /** All bytes of each sink, and of each `transform/family`. */
  data: Record<string, Buffer>;
  timers: Record<string, Buffer>;
  /** The sizes of the frames of all sinks. */
  frameSizes: number[];
}

export async function startFakeRunner(options: FakeOptions = {}) {
  const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  const descriptors = new Map<string, Descriptor>();
  const answers = new Map<string, (response: Response) => void>();
  const collected = new Map<string, Collected>();
  const state = new Map<string, Buffer>();
  const asked: StateRequest[] = [];
  const logged: string[] = [];
  const workerIds = new Set<string>();
  const connected = Promise.withResolvers<Call<Response, unknown>>();
  const dataCall = Promise.withResolvers<Call<Elements, Elements>>();
  let ids = 0;

  const seen = (call: { metadata: Grpc.Metadata }) => workerIds.add(String(call.metadata.get("worker_id")[0]));

  server.addService(servers.beamFnControlDefinition, {
    control(call: Call<Response, unknown>) {
      seen(call);
      call.on("data", (response: Response) => {
        answers.get(response.instructionId)?.(response);
        answers.delete(response.instructionId);
      });
      call.on("error", () => undefined);
      call.on("end", () => call.end());
      connected.resolve(call);
    },
    getProcessBundleDescriptor(
      call: Grpc.ServerUnaryCall<{ processBundleDescriptorId: string }, Descriptor>,
      back: (...of: unknown[]) => void,
    ) {
      seen(call);
      const found = descriptors.get(call.request.processBundleDescriptorId);
      back(found === undefined ? { code: grpc.status.NOT_FOUND, details: "no such descriptor" } : null, found);
    },
  } as never);
  server.addService(servers.beamFnDataDefinition, {
    data(call: Call<Elements, Elements>) {
      seen(call);
      call.on("data", (elements: Elements) => collect(collected, elements));
      call.on("error", () => undefined);
      call.on("end", () => call.end());
      dataCall.resolve(call);
    },
  } as never);
  server.addService(servers.beamFnStateDefinition, {
    state(call: Call<StateRequest, StateResponse>) {
      seen(call);
      call.on("data", (request: StateRequest) => {
        asked.push(request);
        const fault = options.stateFault?.(request);
        if (fault === "silent") return;
        const response =
          fault === undefined ? answerState(state, request, options.stateChunk) : { ...EMPTY_ANSWER, error: fault };
        const send = () => call.write({ ...response, id: request.id });
        if (options.stateDelayMs === undefined) send();
        else setTimeout(send, options.stateDelayMs);
      });
      call.on("error", () => undefined);
      call.on("end", () => call.end());
    },
  } as never);
  server.addService(servers.beamFnLoggingDefinition, {
    logging(call: Call<{ logEntries: { message: string }[] }, unknown>) {
      seen(call);
      call.on("data", ({ logEntries }: { logEntries: { message: string }[] }) => {
        for (const { message } of logEntries) logged.push(message);
      });
      call.on("error", () => undefined);
      call.on("end", () => call.end());
    },
  } as never);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );

  async function instruct(request: Request, id = `i${ids++}`): Promise<Response> {
    const control = await connected.promise;
    const answer = new Promise<Response>((resolve) => answers.set(id, resolve));
    control.write({ instructionId: id, request });
    return answer;
  }

  /** Sends the request and what comes in; resolves with the answer and, where it is none of an error, all ends of the outputs. */
  async function bundle(input: BundleInput, id = `b${ids++}`): Promise<BundleOutput> {
    const { data, timers, frames } = elementsOf(input, id);
    const result: Collected = {
      data: {},
      timers: {},
      frameSizes: [],
      open: outputsOf(descriptors.get(input.descriptor)),
      ends: Promise.withResolvers(),
    };
    collected.set(id, result);
    if (result.open.size === 0) result.ends.resolve();
    const cacheTokens =
      input.token === undefined
        ? []
        : [{ token: Buffer.from(input.token), type: { oneofKind: "userState" as const, userState: {} } }];
    const asking = instruct(
      {
        oneofKind: "processBundle",
        processBundle: {
          ...{ processBundleDescriptorId: input.descriptor, cacheTokens },
          ...(input.embedded && { elements: { data, timers } }),
        },
      },
      id,
    );
    if (!input.embedded && frames.length > 0)
      void dataCall.promise.then((call) => {
        for (const frame of frames) call.write(frame);
      });
    const { error, response } = await asking;
    if (error === "") await result.ends.promise;
    collected.delete(id);
    const processed = response.oneofKind === "processBundle" ? response.processBundle : protos.ProcessBundleResponse.create();
    const joined = (parts: Record<string, Uint8Array[]>) =>
      Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, Buffer.concat(bytes)]));
    return {
      ...{ id, error, response: processed, frameSizes: result.frameSizes },
      ...{ data: joined(result.data), timers: joined(result.timers) },
    };
  }

  return {
    endpoint: `127.0.0.1:${port}`,
    workerIds,
    logged,
    /** What the state plane was asked, in order. */
    asked,
    /** By `transform/cell/key` the encoded bag, by `kept/token` the elements that the runner keeps of an iterable. */
    state,
    register: (descriptor: Descriptor) => void descriptors.set(descriptor.id, descriptor),
    instruct,
    bundle,
    /** Sends elements as they are. */
    write: async (elements: Elements) => (await dataCall.promise).write(elements),
    /** Takes nothing from the data plane, or goes on. */
    hold: async (held: boolean) => {
      const call = await dataCall.promise;
      if (held) call.pause();
      else call.resume();
    },
    dataCall: () => dataCall.promise,
    endControl: async () => void (await connected.promise).end(),
    stop: () => server.forceShutdown(),
  };
}

interface Collected {
  data: Record<string, Uint8Array[]>;
  timers: Record<string, Uint8Array[]>;
  frameSizes: number[];
  open: Set<string>;
  ends: PromiseWithResolvers<void>;
}

function collect(collected: Map<string, Collected>, { data, timers }: Elements): void {
  const took = (instruction: string, name: string, into: "data" | "timers", bytes: Uint8Array, last: boolean) => {
    const result = collected.get(instruction);
    if (result === undefined) return;
    if (bytes.length > 0) {
      result[into][name] ??= [];
      result[into][name].push(bytes);
    }
    if (into === "data" && bytes.length > 0) result.frameSizes.push(bytes.length);
    if (last && result.open.delete(name) && result.open.size === 0) result.ends.resolve();
  };
  for (const one of data) took(one.instructionId, one.transformId, "data", one.data, one.isLast);
  for (const one of timers)
    took(one.instructionId, `${one.transformId}/${one.timerFamilyId}`, "timers", one.timers, one.isLast);
}

function elementsOf(input: BundleInput, instructionId: string): Elements & { frames: Elements[] } {
  const data: Elements["data"] = [];
  const timers: Elements["timers"] = [];
  for (const [transformId, frames] of Object.entries(input.data ?? {}))
    for (const [index, bytes] of [...frames, new Uint8Array()].entries())
      data.push({ instructionId, transformId, data: bytes, isLast: index === frames.length });
  const families = { ...Object.fromEntries((input.families ?? []).map((name) => [name, []])), ...input.timers };
  for (const [name, frames] of Object.entries(families)) {
    const [transformId = "", timerFamilyId = ""] = name.split("/");
    for (const [index, bytes] of [...frames, new Uint8Array()].entries())
      timers.push({ instructionId, transformId, timerFamilyId, timers: bytes, isLast: index === frames.length });
  }
  // The last of everything share a message, as some runners send them.
  const frames: Elements[] = data.filter((one) => !one.isLast).map((one) => ({ data: [one], timers: [] }));
  frames.push(...timers.filter((one) => !one.isLast).map((one) => ({ data: [], timers: [one] })));
  frames.push({ data: data.filter((one) => one.isLast), timers: timers.filter((one) => one.isLast) });
  return { data, timers, frames: data.length + timers.length === 0 ? [] : frames };
}

function outputsOf(descriptor: Descriptor | undefined): Set<string> {
  const open = new Set<string>();
  for (const [id, transform] of Object.entries(descriptor?.transforms ?? {})) {
    if (transform.spec?.urn === "beam:runner:sink:v1") open.add(id);
    if (transform.spec?.urn === "beam:transform:pardo:v1")
      for (const family of Object.keys(runnerApi.ParDoPayload.fromBinary(transform.spec.payload).timerFamilySpecs))
        open.add(`${id}/${family}`);
  }
  return open;
}

const runnerApi: typeof import("apache-beam/proto/beam_runner_api") = require("apache-beam/proto/beam_runner_api");

const EMPTY_ANSWER: StateResponse = { id: "", error: "", response: { oneofKind: undefined } };

function answerState(
  state: Map<string, Buffer>,
  { stateKey, request }: StateRequest,
  chunk = Number.POSITIVE_INFINITY,
): StateResponse {
  if (stateKey?.type.oneofKind === "runner")
    return answerGet(state.get(`kept/${Buffer.from(stateKey.type.runner.key)}`), request, chunk);
  if (stateKey?.type.oneofKind !== "bagUserState") return { ...EMPTY_ANSWER, error: "not a bag of user state" };
  const { transformId, userStateId, key, window } = stateKey.type.bagUserState;
  if (window.length > 0) return { ...EMPTY_ANSWER, error: "not the global window" };
  const name = `${transformId}/${userStateId}/${Buffer.from(key).toString("latin1").slice(1)}`;
  const held = state.get(name) ?? Buffer.alloc(0);
  if (request.oneofKind === "clear") {
    state.delete(name);
    return { ...EMPTY_ANSWER, response: { oneofKind: "clear", clear: {} } };
  }
  if (request.oneofKind === "append") {
    state.set(name, Buffer.concat([held, request.append.data]));
    return { ...EMPTY_ANSWER, response: { oneofKind: "append", append: {} } };
  }
  return answerGet(held, request, chunk);
}

function answerGet(held: Buffer | undefined, request: StateRequest["request"], chunk: number): StateResponse {
  if (held === undefined) return { ...EMPTY_ANSWER, error: "nothing is kept there" };
  if (request.oneofKind !== "get") return { ...EMPTY_ANSWER, error: "not a request" };
  const from = Number(Buffer.from(request.get.continuationToken).toString() || "0");
  const to = Math.min(held.length, from + chunk);
  const continuationToken = to < held.length ? Buffer.from(String(to)) : new Uint8Array();
  return { ...EMPTY_ANSWER, response: { oneofKind: "get", get: { data: held.subarray(from, to), continuationToken } } };
}
