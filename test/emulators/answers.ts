// Does an emulator answer? One small real call of each service, since a port is open before the service behind it is ready.
import { credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import type { EmulatorName } from "./locate.ts";

const CALL_MS_MAX = 2_000;

/** Undefined where it answered, else what went wrong. `endpoint` is host:port. */
export async function unanswered(name: EmulatorName, endpoint: string): Promise<string | undefined> {
  try {
    await CALLS[name](endpoint);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const CALLS: Readonly<Record<EmulatorName, (endpoint: string) => Promise<void>>> = {
  pubsub: (endpoint) => list(endpoint, "/google.pubsub.v1.Publisher/ListTopics", "projects/probe"),
  bigtable: (endpoint) =>
    list(endpoint, "/google.bigtable.admin.v2.BigtableTableAdmin/ListTables", "projects/probe/instances/probe"),
  storage: async (endpoint) => {
    const answer = await fetch(`http://${endpoint}/storage/v1/b?project=probe`, { signal: AbortSignal.timeout(CALL_MS_MAX) });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`HTTP status ${answer.status}`);
  },
};

/** A unary call whose request has one field, number 1: the name of what is listed. */
function list(endpoint: string, path: string, parent: string): Promise<void> {
  const bytes = Buffer.from(parent);
  const request = Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes]);
  const same = (message: Buffer) => message;
  const client = new (makeGenericClientConstructor({}, "probe"))(endpoint, credentials.createInsecure());
  return new Promise<void>((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, request, { deadline: Date.now() + CALL_MS_MAX }, (error) =>
      error === null ? resolve() : reject(error),
    );
  }).finally(() => client.close());
}
