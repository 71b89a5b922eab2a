// What does Cloud Storage answer to who asks for an object's bytes? Its headers alone, so that a test can break the answer as no emulator does.
import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface AskedMedia {
  headers: IncomingHttpHeaders;
  generation: string | undefined;
  /** The how manyeth, from 1. */
  count: number;
  response: ServerResponse;
  /** What would be answered: of the range that is asked for. */
  whole: { status: number; headers: Record<string, string>; bytes: Buffer };
}

export interface MediaServer {
  endpoint: string;
  asked: () => number;
  stop: () => Promise<void>;
}

/** One object under every name; `answer` is to end the response, or to cut it. */
export async function startMediaServer(bytes: Buffer, answer: (asked: AskedMedia) => void): Promise<MediaServer> {
  let count = 0;
  const told = {
    "x-goog-generation": "7",
    "x-goog-hash": `crc32c=AAAAAA==,md5=${createHash("md5").update(bytes).digest("base64")}`,
    "x-goog-stored-content-length": String(bytes.length),
  };
  const server = createServer(({ url, headers }, response) => {
    const query = new URL(url ?? "", "http://storage").searchParams;
    if (query.get("alt") !== "media") return void response.writeHead(200, { "content-type": "application/json" }).end("{}");
    const from = Number(/^bytes=(\d+)-/.exec(headers.range ?? "")?.[1] ?? 0);
    const whole = { status: from > 0 ? 206 : 200, headers: told, bytes: bytes.subarray(from) };
    answer({ headers, generation: query.get("generation") ?? undefined, count: ++count, response, whole });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => count,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
