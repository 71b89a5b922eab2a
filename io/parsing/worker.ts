// What runs in a parsing thread? One request after another, each answered with its number.
import { parentPort } from "node:worker_threads";
import type { ParseFailure } from "../../ports/parser.ts";
import type { ParsedPage, ParseRequest } from "../../schemas/parsed-page.ts";
import { parseSafely } from "./inline.ts";

export interface WorkerRequest {
  id: number;
  request: ParseRequest;
}

/** `ready` once, when the thread has loaded everything. */
export type WorkerMessage = { kind: "ready" } | { kind: "parsed"; id: number; result: ParsedPage | ParseFailure };

const port = parentPort;
port?.on("message", ({ id, request }: WorkerRequest) => {
  port.postMessage({ kind: "parsed", id, result: parseSafely(request) } satisfies WorkerMessage);
});
port?.postMessage({ kind: "ready" } satisfies WorkerMessage);
