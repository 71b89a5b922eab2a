// The Http port over the virtual web: waits on the given clock alone, guards addresses, and tells the wire what the servers see.
import { addressVerdict } from "../../core/http/public-address.ts";
import type { Clock } from "../../ports/clock.ts";
import { sleep } from "../../ports/clock.ts";
import type { Answer, Connected, Http, HttpFailure, RequestLimits } from "../../ports/http.ts";
import { gone, type Life, never } from "./life.ts";
import { markupOf } from "./pages.ts";
import { tell, told, type Wire, type WireEntry } from "./wire.ts";
import { addressOf, answerOf, type SimAnswer, type SimHost, type World } from "./world.ts";
import { notePage } from "./world-parser.ts";

export { newWire } from "./wire.ts";

export interface SimHttpOptions {
  world: World;
  wire: Wire;
  /** True time. */
  clock: Clock;
  /** The worker's own idea of it, which may be off within the stated bound. */
  workerClock: Clock;
  worker: string;
  /** Of the worker: one that is dead sends nothing and hears nothing. */
  life?: Life;
  /** Called when an answer's headers have come: the moment after which a crash hurts most. */
  answered?: () => void;
}

const CONNECT_MS = 5;

export function simHttp({ world, wire, clock, workerClock, worker, life, answered }: SimHttpOptions): Http {
  const dead = (): boolean => life !== undefined && gone(life);
  const failure = (reason: HttpFailure["reason"], sentAt?: number): HttpFailure => ({
    ok: false,
    reason,
    detail: "simulated",
    endedAt: workerClock.now(),
    ...(sentAt === undefined ? {} : { sentAt }),
  });
  return {
    async close() {},
    async connect(text, limits) {
      const url = partsOf(text);
      const host = world.byName.get(url.host);
      await sleep(clock, CONNECT_MS);
      if (host === undefined) return failure("dns");
      const address = addressOf(host, clock.now());
      if (!addressVerdict(address, []).allowed) return failure("address");
      if (clock.now() < host.downUntil) return failure("connect");
      return connected(url, host, address, limits);
    },
  };

  function connected(url: UrlParts, host: SimHost, address: string, limits: RequestLimits): Connected {
    const deadline = clock.now() + limits.totalMs;
    return {
      ok: true,
      address,
      release() {},
      async send({ headers, sendBy }) {
        if (dead()) return never();
        if (workerClock.now() > sendBy) return { ok: false, reason: "unsent" };
        const sentAt = workerClock.now();
        const entry = arrive(url, host, address);
        const { path } = url;
        const ifNoneMatch = headers["if-none-match"];
        const reply = answerOf(world, {
          host,
          path,
          at: clock.now(),
          serial: entry.serial,
          ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
        });
        if (reply.failure === "stall") {
          await sleep(clock, Math.max(0, deadline - clock.now()));
          over(entry);
          return failure("timeout", sentAt);
        }
        await sleep(clock, reply.latencyMs);
        if (reply.failure === "reset") {
          over(entry);
          return failure("reset", sentAt);
        }
        const status = reply.status;
        Object.assign(entry, { answeredAt: clock.now(), status }, told(reply.headers, status, path, reply.body));
        tell(wire.answered, entry);
        answered?.();
        return answer(entry, { sentAt, reply, requestHeaders: Object.entries(headers) });
      },
    };
  }

  function arrive(url: UrlParts, host: SimHost, address: string): WireEntry {
    const serial = wire.serials.get(host.name) ?? 0;
    wire.serials.set(host.name, serial + 1);
    const entry: WireEntry = {
      serial,
      host: host.name,
      scheme: url.scheme,
      path: url.path,
      address,
      at: clock.now(),
      status: 0,
      worker,
    };
    wire.requests++;
    tell(wire.arrived, entry);
    return entry;
  }

  function over(entry: WireEntry): void {
    if (entry.endedAt !== undefined) return;
    entry.endedAt = clock.now();
    tell(wire.ended, entry);
  }

  function answer(
    entry: WireEntry,
    { sentAt, reply, requestHeaders }: { sentAt: number; reply: SimAnswer; requestHeaders: [string, string][] },
  ): Answer {
    return {
      ok: true,
      status: reply.status,
      statusText: "",
      httpVersion: "1.1",
      headers: reply.headers,
      requestHeaders,
      sentAt,
      answeredAt: workerClock.now(),
      async body({ decodedBytes }) {
        if (dead()) {
          over(entry); // its socket is closed
          return never();
        }
        await sleep(clock, reply.bodyMs);
        const bytes = bytesOf(reply);
        entry.bodyBytes = bytes.length;
        over(entry);
        const endedAt = workerClock.now();
        if (bytes.length > decodedBytes)
          return { ok: false, reason: "decoded-bytes", detail: "simulated", wireBytes: bytes.length, endedAt };
        return { ok: true, bytes, wireBytes: bytes.length, endedAt };
      },
      discard() {
        over(entry);
      },
    };
  }
}

interface UrlParts {
  scheme: string;
  host: string;
  path: string;
}

/** Of canonical URLs, which is all that a fetcher asks for; no virtual host has a port. */
function partsOf(url: string): UrlParts {
  const authority = url.indexOf("//") + 2;
  const path = url.indexOf("/", authority);
  return { scheme: url.slice(0, authority - 2), host: url.slice(authority, path), path: url.slice(path) };
}

function bytesOf({ body, page }: SimAnswer): Uint8Array {
  if (page === undefined) return Buffer.from(body);
  const bytes = markupOf(page);
  notePage(bytes, page);
  return bytes;
}
