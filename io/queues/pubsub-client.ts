// How does this process speak to Pub/Sub? One set of clients for all queues and events: Google's in the cloud, or an emulator's.
import { type CallOptions, type ClientConfig, PubSub, v1 } from "@google-cloud/pubsub";
import { pubsubFault } from "./pubsub-faults.ts";

export interface PubsubClientOptions {
  project: string;
  /** host:port of an emulator, or of a region's service. Default is PUBSUB_EMULATOR_HOST, and Google's service where that is not set either. */
  endpoint?: string;
  /** How long a call is repeated while the service does not answer. */
  retryMs?: number;
}

export interface PubsubClient {
  project: string;
  /** Whether it is not Google's service, whose limits an emulator may not know. */
  emulator: boolean;
  /** Publishes, in batches. */
  pubsub: PubSub;
  /** Single calls. */
  publisher: v1.PublisherClient;
  subscriber: v1.SubscriberClient;
  /** Of calls that may be repeated, which all of ours may: at least once is all that is promised. */
  repeated: CallOptions;
  /** Of calls that nobody waits for, and that are made up for by the next one. */
  once: CallOptions;
  /** Once all who use it are closed. */
  close(): Promise<void>;
}

/** Outlasts an emulator's or a connection's restart; who is told after a minute can still wait longer. */
const RETRY_MS = 60_000;
const RPC_MS = 20_000; // one attempt; Google's own setting is 60 s, in which we would try but once
const RECONNECT_MS_MAX = 5_000; // gRPC's own is 2 minutes, longer than we wait at all

const ONCE: CallOptions = { timeout: 5_000, retry: null }; // a close may wait for one

/** Of google.rpc.Code: cancelled, unknown, deadline exceeded, resource exhausted, aborted, internal, unavailable. */
const PASSING_CODES = [1, 2, 4, 8, 10, 13, 14];

// Without any credentials the clients would look for those of the machine: seconds of waiting and warnings, for a server that asks for none.
const NO_CREDENTIALS = { client_email: "nobody@localhost", private_key: "none" };

/** Rejects with StoreError (final) where there are no credentials. */
export async function openPubsub({ project, endpoint, retryMs = RETRY_MS }: PubsubClientOptions): Promise<PubsubClient> {
  const pubsub = new PubSub(clientConfig(project, endpoint ?? process.env.PUBSUB_EMULATOR_HOST));
  // The clients share one type of options, which one of them declares without `undefined`.
  const config = (await pubsub.getClientConfig()) as ConstructorParameters<typeof v1.PublisherClient>[0];
  const publisher = new v1.PublisherClient(config);
  const subscriber = new v1.SubscriberClient(config);
  const close = async () => {
    await Promise.all([pubsub.close(), publisher.close(), subscriber.close()]);
  };
  try {
    await Promise.all([publisher.initialize(), subscriber.initialize()]);
  } catch (error) {
    throw pubsubFault(error, { project, doing: "use" });
  }
  const emulator = pubsub.isEmulator;
  return { project, emulator, pubsub, publisher, subscriber, repeated: repeated(retryMs), once: ONCE, close };
}

function clientConfig(projectId: string, endpoint: string | undefined): ClientConfig {
  const config: ClientConfig & Record<`grpc.${string}`, number> = {
    projectId,
    "grpc.max_reconnect_backoff_ms": RECONNECT_MS_MAX,
  };
  if (endpoint !== undefined) config.apiEndpoint = endpoint;
  if (endpoint !== undefined && !OF_GOOGLE.test(endpoint)) config.credentials = NO_CREDENTIALS;
  return config;
}

const OF_GOOGLE = /\.googleapis\.com(?::\d+)?$/; // so does the client tell an emulator

function repeated(retryMs: number): CallOptions {
  const rpcMs = Math.min(RPC_MS, retryMs);
  return {
    timeout: rpcMs,
    retry: {
      retryCodes: PASSING_CODES,
      backoffSettings: {
        initialRetryDelayMillis: 100,
        retryDelayMultiplier: 2,
        maxRetryDelayMillis: 5_000,
        initialRpcTimeoutMillis: rpcMs,
        rpcTimeoutMultiplier: 1,
        maxRpcTimeoutMillis: rpcMs,
        totalTimeoutMillis: retryMs,
      },
    },
  };
}
