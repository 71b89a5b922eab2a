// Which port of loopback is free for a server that may be ended and started again on it?
import { createServer } from "node:net";

/** Below those that systems give to outgoing connections, which could take the port while its server is down. */
const FIRST = 20_000;
const COUNT = 10_000;
const TRIES_MAX = 50;

/** Drawn by chance, since other tests look for theirs at the same time. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found between ${FIRST} and ${FIRST + COUNT} in ${TRIES_MAX} tries`);
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
