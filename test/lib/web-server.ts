// What does a web of several hosts look like on loopback? One server that answers by Host header and logs what it saw, when.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { performance } from "node:perf_hooks";

/** What a site is asked. */
export interface SiteRequest {
  method: string;
  /** From the Host header, lower case, without the port. */
  host: string;
  /** With the query, as received. */
  path: string;
  headers: IncomingMessage["headers"];
  /** The port of this web, for absolute links. */
  port: number;
  /** For a handler that answers by itself (and returns undefined). */
  request: IncomingMessage;
  response: ServerResponse;
}

export interface SiteAnswer {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: string | Uint8Array;
  /** Before the first byte. */
  delayMs?: number;
  /** Between the headers and the body. */
  bodyDelayMs?: number;
}

export type SiteHandler = (ask: SiteRequest) => SiteAnswer | undefined | Promise<SiteAnswer | undefined>;

/** One request as the server saw it. Times are Unix ms with fractions. */
export interface RequestLogEntry {
  /** Its head had arrived. */
  startedAt: number;
  /** The first byte of the answer was given to the system; undefined where there was no answer. */
  answeredAt?: number;
  /** The answer was complete or the connection gone; undefined while it is open. */
  endedAt?: number;
  host: string;
  method: string;
  path: string;
  /** 0 until answered. */
  status: number;
  /** Requests of this host that were open at its arrival, itself among them. */
  concurrent: number;
  userAgent: string;
  /** What the answer said in Retry-After. */
  retryAfter?: string;
}

export interface WebOptions {
  sites: Readonly<Record<string, SiteHandler>>;
  /** Called once an entry has ended. */
  log?: (entry: RequestLogEntry) => void;
  host?: "127.0.0.1";
  /** Default: one that is free. */
  port?: number;
}

export interface Web {
  port: number;
  /** In order of arrival; entries are completed in place. */
  log: RequestLogEntry[];
  /** Ends every connection; resolves when the port is free. */
  close(): Promise<void>;
}

/** Rejects where the port is taken. A host that has no site is answered with 421. */
export async function startWeb(options: WebOptions): Promise<Web> {
  const log: RequestLogEntry[] = [];
  const open = new Map<string, number>();
  const closing = new AbortController();
  const server = createServer((request, response) => {
    const entry = arrival(request, open);
    log.push(entry);
    watch(entry, response, () => {
      open.set(entry.host, (open.get(entry.host) ?? 1) - 1);
      options.log?.(entry);
    });
    const ask = { method: entry.method, host: entry.host, path: entry.path, headers: request.headers, port, request, response };
    void serve(options.sites[entry.host], ask, closing.signal);
  });
  // A crawler that keeps connections must not race against a server that drops them: tests are to judge pace, not that.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      closing.abort();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, log, close };
}

function arrival(request: IncomingMessage, open: Map<string, number>): RequestLogEntry {
  const host = (request.headers.host ?? "").toLowerCase().replace(/:\d*$/, "");
  const concurrent = (open.get(host) ?? 0) + 1;
  open.set(host, concurrent);
  return {
    startedAt: unixMs(),
    host,
    method: request.method ?? "",
    path: request.url ?? "",
    status: 0,
    concurrent,
    userAgent: request.headers["user-agent"] ?? "",
  };
}

/** Completes the entry from what really leaves, so that handlers that take over are logged as well. */
function watch(entry: RequestLogEntry, response: ServerResponse, ended: () => void): void {
  const writeHead = response.writeHead;
  response.writeHead = ((...given: Parameters<typeof writeHead>) => {
    const result = writeHead.apply(response, given);
    entry.answeredAt = unixMs();
    entry.status = response.statusCode;
    const retryAfter = response.getHeader("retry-after");
    if (retryAfter !== undefined) entry.retryAfter = String(retryAfter);
    return result;
  }) as typeof writeHead;
  const end = () => {
    if (entry.endedAt !== undefined) return;
    entry.endedAt = unixMs();
    ended();
  };
  response.once("finish", end);
  response.once("close", end);
}

async function serve(site: SiteHandler | undefined, ask: SiteRequest, closing: AbortSignal): Promise<void> {
  try {
    const answer = site === undefined ? { status: 421, body: "no such site here\n" } : await site(ask);
    if (answer !== undefined) await give(answer, ask, closing);
  } catch (cause) {
    if (closing.aborted) return;
    if (!ask.response.headersSent) ask.response.writeHead(500);
    ask.response.end(`the site's handler failed: ${String(cause)}\n`);
  }
}

async function give(answer: SiteAnswer, ask: SiteRequest, closing: AbortSignal): Promise<void> {
  const { response } = ask;
  const body = Buffer.from(answer.body ?? "");
  await pause(answer.delayMs, closing);
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  const status = answer.status ?? 200;
  const bodiless = status === 304 || status === 204;
  if (!bodiless && !response.hasHeader("content-length") && !response.hasHeader("transfer-encoding"))
    response.setHeader("content-length", body.length);
  response.writeHead(status);
  if (answer.bodyDelayMs !== undefined) {
    response.flushHeaders();
    await pause(answer.bodyDelayMs, closing);
  }
  response.end(bodiless || ask.method === "HEAD" ? undefined : body);
}

/** Rejects when the web closes. */
function pause(delayMs: number | undefined, closing: AbortSignal): Promise<void> {
  if (delayMs === undefined || delayMs <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const off = () => {
      clearTimeout(timer);
      reject(new Error("the web closes"));
    };
    const timer = setTimeout(() => {
      closing.removeEventListener("abort", off);
      resolve();
    }, delayMs);
    closing.addEventListener("abort", off, { once: true });
  });
}

function unixMs(): number {
  return performance.timeOrigin + performance.now();
}
