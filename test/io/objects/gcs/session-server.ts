// How does Cloud Storage keep a resumable upload? Its protocol alone: the emulator takes a question for a session's state for its end.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** https://cloud.google.com/storage/docs/performing-resumable-uploads */
export interface SessionServer {
  endpoint: string;
  /** Objects by name; what a test puts there is of generation 1. */
  objects: Map<string, Buffer>;
  /** Bytes that came in all, those that were sent twice among them. */
  received: () => number;
  sessions: () => number;
  stop: () => Promise<void>;
}

/** What becomes of the how manyeth chunk: answered with a reset before or after it was kept, or its session forgotten. */
export type ChunkFault = "unheard" | "lost" | "forgotten";

export async function startSessionServer(faultOf: (chunk: number) => ChunkFault | undefined): Promise<SessionServer> {
  const objects = new Map<string, Buffer>();
  const sessions = new Map<string, { name: string; bytes: Buffer; done: boolean }>();
  const generations = new Map<string, number>();
  let received = 0;
  let begun = 0;
  let chunks = 0;

  const generationOf = (name: string) => String(objects.has(name) ? (generations.get(name) ?? 1) : 0);
  const facts = (name: string) => {
    const bytes = objects.get(name)!;
    return {
      name,
      generation: generationOf(name),
      size: String(bytes.length),
      md5Hash: createHash("md5").update(bytes).digest("base64"),
    };
  };

  function put(request: IncomingMessage, response: ServerResponse, id: string, body: Buffer): void {
    const session = sessions.get(id);
    const [, from, total] = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(request.headers["content-range"] ?? "") ?? [];
    const fault = from === undefined ? undefined : faultOf(++chunks);
    received += body.length;
    if (fault === "forgotten") sessions.delete(id);
    if (session === undefined || fault === "forgotten") return void answer(response, 404);
    if (fault === "unheard") return void request.socket.resetAndDestroy();
    if (from !== undefined) session.bytes = Buffer.concat([session.bytes.subarray(0, Number(from)), body]);
    if (session.bytes.length === Number(total)) {
      session.done = true;
      if (!objects.get(session.name)?.equals(session.bytes)) {
        generations.set(session.name, Number(generationOf(session.name)) + 1);
        objects.set(session.name, session.bytes);
      }
    }
    if (fault === "lost") return void request.socket.resetAndDestroy();
    if (session.done) answer(response, 200, facts(session.name));
    else answer(response, 308, undefined, session.bytes.length > 0 ? { range: `bytes=0-${session.bytes.length - 1}` } : {});
  }

  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const url = new URL(request.url ?? "", "http://storage");
    const id = url.searchParams.get("upload_id");
    const name = url.searchParams.get("name") ?? decodeURIComponent(url.pathname.split("/o/")[1] ?? "");
    if (id !== null) return put(request, response, id, Buffer.concat(pieces));
    if (request.method === "GET" && name === "") return answer(response, 200); // a listing
    if (request.method === "GET") return objects.has(name) ? answer(response, 200, facts(name)) : answer(response, 404);
    if (generationOf(name) !== url.searchParams.get("ifGenerationMatch")) return answer(response, 412);
    sessions.set(String(++begun), { name, bytes: Buffer.alloc(0), done: false });
    answer(response, 200, {}, { location: `http://${request.headers.host}/upload?upload_id=${begun}` });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    received: () => received,
    sessions: () => begun,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, body: object = {}, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
