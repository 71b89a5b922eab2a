// What runs in a parsing thread or process? One request after another, each answered with its number.
import { parentPort } from "node:worker_threads";
import type { ParseFailure } from "../../ports/parser.ts";
import type { ParsedPage, ParseRequest } from "../../schemas/parsed-page.ts";
import { parseSafely } from "./inline.ts";

export interface WorkerRequest {
  id: number;
  request: ParseRequest;
}

/** `ready` once, when everything is loaded. */
export type WorkerMessage = { kind: "ready" } | { kind: "parsed"; id: number; result: ParsedPage | ParseFailure };

if (parentPort !== null) {
  const port = parentPort;
  serve(
    (take) => port.on("message", take),
    (message) => port.postMessage(message),
  );
} else if (process.send !== undefined) {
  // A signal of the terminal goes to every process of the command; how this one ends, its parent says.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit());
  serve(
    (take) => process.on("message", (message) => take(message as WorkerRequest)),
    (message) => process.send!(message),
  );
}

function serve(listen: (take: (request: WorkerRequest) => void) => void, tell: (message: WorkerMessage) => void): void {
  listen(({ id, request }) => tell({ kind: "parsed", id, result: parseSafely(request) }));
  tell({ kind: "ready" });
}
