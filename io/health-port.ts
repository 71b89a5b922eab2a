// Is this process well? Answered over HTTP, GET /healthz, to whoever watches it; nothing else is answered there.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Health {
  /** Answered as 200 where true, else as 503. */
  well: boolean;
  /** The answer's body, as JSON. */
  told: object;
}

export interface HealthPortOptions {
  /** 0: any that is free. */
  port: number;
  /** Default: all addresses, since those who watch a container ask it from outside. */
  host?: string;
  /** Asked for each request; where it fails, the process is not well. */
  health: () => Health | Promise<Health>;
}

export interface HealthPort {
  port: number;
  close(): Promise<void>;
}

/** A watcher asks once in seconds. */
const CONNECTIONS_MAX = 16;
const REQUEST_MS_MAX = 5_000;
const HEADER_BYTES_MAX = 4 * 1024;

/** Rejects where the port cannot be listened on. Does not keep the process alive. */
export async function openHealthPort({ port, host, health }: HealthPortOptions): Promise<HealthPort> {
  const limits = { maxHeaderSize: HEADER_BYTES_MAX, requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX };
  const server = createServer({ ...limits, connectionsCheckingInterval: REQUEST_MS_MAX }, async (request, response) => {
    request.resume();
    if (request.url !== "/healthz") return answer(response, 404, { error: "GET /healthz is all there is" });
    if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405, { error: "GET or HEAD" });
    const { well, told } = await asked(health);
    answer(response, well ? 200 : 503, told);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listening(server, port, host);
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function asked(health: HealthPortOptions["health"]): Promise<Health> {
  try {
    return await health();
  } catch (error) {
    return { well: false, told: { error: String(error) } };
  }
}

/** Each connection carries one answer: a watcher that keeps many would keep others out. */
function answer(response: ServerResponse, status: number, told: object): void {
  const body = `${JSON.stringify(told)}\n`;
  const headers = { "content-type": "application/json", "cache-control": "no-store", connection: "close" };
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function listening(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, () => {
      server.off("error", reject);
      // One that comes later is a connection's, and no matter of the worker's.
      server.on("error", () => {});
      resolve();
    });
  });
}
