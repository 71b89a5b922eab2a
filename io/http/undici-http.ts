// The Http port on undici and node:http2: resolve, guard, connect to exactly the checked address, then one request (RFC 9110).
import { isIP } from "node:net";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { badPort, internalName } from "../../core/http/internal-target.ts";
import { type AddressRanges, addressVerdict } from "../../core/http/public-address.ts";
import { type Clock, sleep } from "../../ports/clock.ts";
import type { Connected, Http, HttpFailure, RequestLimits } from "../../ports/http.ts";
import type { Metrics } from "../../ports/metrics.ts";
import { limits } from "../../schemas/limits.ts";
import type { FailureReason } from "../../schemas/reasons.ts";
import type { Connection } from "./connection.ts";
import { connectionPool } from "./connection-pool.ts";
import { type Countdown, countdown, within } from "./countdown.ts";
import type { Resolver } from "./dns.ts";
import { messageOf } from "./failure.ts";
import { openHttp1 } from "./http1-connection.ts";
import { openHttp2 } from "./http2-connection.ts";
import { http2Misfits } from "./http2-misfits.ts";
import { type Opened, openSocket } from "./open-socket.ts";
import { slots } from "./slots.ts";

export interface UndiciHttpOptions {
  clock: Clock;
  resolver: Resolver;
  /** What the guard lets through beyond public addresses. */
  allow: AddressRanges;
  /** Why an address that the guard lets through is not asked all the same; undefined: it is. */
  refuse?: (address: string) => string | undefined;
  /** Where to connect in place of a URL's host and port; the guard judges that place all the same. */
  connectTo?: (host: string, port: number) => { host: string; port: number } | undefined;
  /** Connections in use at once; up to limits.keptConnections more idle. */
  fetchers: number;
  metrics: Metrics;
  /** For tests. */
  tls?: { rejectUnauthorized?: boolean; ca?: SecureContextOptions["ca"] };
}

export function undiciHttp(options: UndiciHttpOptions): Http {
  const shared: Shared = {
    ...options,
    pool: connectionPool(options.clock),
    misfits: http2Misfits(),
    slots: slots(options.fetchers),
    secureContext: createSecureContext(options.tls?.ca === undefined ? {} : { ca: options.tls.ca }),
  };
  let closed = false;
  return {
    async connect(url, limits) {
      const time = countdown(options.clock, limits.totalMs);
      const result = closed ? refusal("connect", "the fetcher is closed") : await connect(shared, url, limits, time);
      if (!("reason" in result)) return result;
      time.stop();
      options.metrics.count("http_failures_total", 1, { reason: result.reason });
      return { ok: false, ...result, endedAt: options.clock.now() };
    },
    async close() {
      closed = true;
      await shared.pool.close();
    },
  };
}

interface Shared extends UndiciHttpOptions {
  pool: ReturnType<typeof connectionPool>;
  misfits: ReturnType<typeof http2Misfits>;
  slots: ReturnType<typeof slots>;
  secureContext: ReturnType<typeof createSecureContext>;
}

interface Target {
  url: URL;
  secure: boolean;
  /** Where to connect: the URL's, or what takes their place. */
  host: string;
  port: number;
  key: string;
}

type Refusal = Pick<HttpFailure, "reason" | "detail">;

function refusal(reason: FailureReason, detail: string): Refusal {
  return { reason, detail };
}

async function connect(shared: Shared, text: string, limits: RequestLimits, time: Countdown): Promise<Connected | Refusal> {
  const target = targetOf(shared, text, limits);
  if ("reason" in target) return target;
  if (!(await shared.slots.take(time))) return refusal("timeout", "the request's time ended while all connections were in use");
  shared.metrics.gauge("http_connections_in_use", shared.slots.taken());
  const kept = shared.pool.take(target.key);
  const connection = kept ?? (await open(shared, target, limits, time).catch((error) => refusal("connect", messageOf(error))));
  if ("reason" in connection) {
    shared.slots.give();
    return connection;
  }
  shared.metrics.count("http_connections_total", 1, { kind: kept === undefined ? "new" : "kept" });
  return connected(shared, connection, { target, limits, time });
}

function targetOf({ allow, connectTo }: Shared, text: string, limits: RequestLimits): Target | Refusal {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return refusal("protocol", "not an http(s) URL");
  const secure = url.protocol === "https:";
  const ownHost = unbracketed(url.hostname);
  const ownPort = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const { host, port } = connectTo?.(ownHost, ownPort) ?? { host: ownHost, port: ownPort };
  const name = unbracketed(host);
  if (badPort(port)) return refusal("address", `port ${port} belongs to another protocol`);
  const inside = isIP(name) === 0 ? internalName(name, allow) : undefined;
  if (inside !== undefined) return refusal("address", `${name}: ${inside}`);
  return { url, secure, host: name, port, key: `${url.origin} ${name} ${port} ${limits.headerBytes}` };
}

function unbracketed(host: string): string {
  return host.startsWith("[") ? host.slice(1, -1) : host;
}

async function open(shared: Shared, target: Target, limits: RequestLimits, time: Countdown): Promise<Connection | Refusal> {
  const { clock, allow } = shared;
  const resolved = await within(
    time,
    shared.resolver.resolve(target.host).catch((error) => ({ ok: false as const, detail: messageOf(error) })),
  );
  if (resolved === undefined) return refusal("timeout", "the request's time ended in the look-up");
  if (!resolved.ok) return refusal("dns", resolved.detail);
  const verdicts = resolved.addresses.map((address) => ({ address, refused: refusedFor(shared, address) }));
  const allowed = verdicts.filter(({ refused }) => refused === undefined).map(({ address }) => address);
  if (allowed.length === 0) {
    const reasons = verdicts.map(({ address, refused }) => `${address} (${refused})`);
    return refusal("address", `${target.host}: ${reasons.join(", ") || "no address"}`);
  }
  const { rejectUnauthorized = true } = shared.tls ?? {};
  const tls = {
    host: unbracketed(target.url.hostname),
    protocols: shared.misfits.has(target.key) ? (["http/1.1"] as const) : (["h2", "http/1.1"] as const),
    options: { secureContext: shared.secureContext, rejectUnauthorized },
  };
  const options = { clock, allow, time, tls: target.secure ? tls : undefined };
  const opened = await openPatiently(shared, () => openSocket(allowed, target.port, options), time);
  if (!opened.ok) {
    if (opened.fault !== undefined) shared.metrics.count("http_tls_failures_total", 1, { fault: opened.fault });
    return refusal(opened.reason, opened.detail);
  }
  const { key, url } = target;
  const { socket, address, protocol } = opened;
  const parts = { key, origin: url.origin, address, socket, headerBytes: limits.headerBytes };
  if (protocol === "http/1.1") return openHttp1(parts);
  return openHttp2({ ...parts, clock, misfit: () => shared.misfits.add(key) });
}

/** Where this machine has no file handle left, which is no fault of the server's, idle connections give theirs. */
async function openPatiently({ clock, pool }: Shared, open: () => Promise<Opened>, time: Countdown): Promise<Opened> {
  const until = clock.now() + limits.connectMs;
  for (;;) {
    const opened = await open();
    if (opened.ok || opened.starved !== true || time.leftMs() <= STARVED_MS || clock.now() >= until) return opened;
    pool.shed();
    await within(time, sleep(clock, STARVED_MS));
  }
}

const STARVED_MS = 100; // a closed socket's handle is free within a turn of the event loop; one of others when it is

function refusedFor({ allow, refuse }: Shared, address: string): string | undefined {
  const verdict = addressVerdict(address, allow);
  return verdict.allowed ? refuse?.(address) : verdict.range;
}

interface Use {
  target: Target;
  limits: RequestLimits;
  time: Countdown;
}

/** A connection in somebody's hands: used once, or given back, or taken away when the time is over. */
function connected(shared: Shared, connection: Connection, { target, limits, time }: Use): Connected {
  const { clock, metrics } = shared;
  let used = false;
  let settled = false;
  const settle = (reusable: boolean) => {
    if (settled) return;
    settled = true;
    time.stop();
    if (reusable) shared.pool.keep(connection);
    else connection.end();
    shared.slots.give();
    metrics.gauge("http_connections_in_use", shared.slots.taken());
  };
  time.whenOver(() => {
    used = true;
    settle(false);
  });
  return {
    ok: true,
    address: connection.address,
    async send(request) {
      if (used) return { ok: false, reason: "unsent" };
      used = true;
      if (clock.now() > request.sendBy || !connection.alive()) {
        settle(true);
        return { ok: false, reason: "unsent" };
      }
      const { host, pathname, search } = target.url;
      const result = await connection.exchange(request, { clock, limits, time, host, path: pathname + search, settle });
      if (!result.ok) metrics.count("http_failures_total", 1, { reason: result.reason });
      return result;
    },
    release() {
      if (used) return;
      used = true;
      settle(true);
    },
  };
}
