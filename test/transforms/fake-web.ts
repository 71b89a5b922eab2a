// A web of given answers behind the Http port: who asked for what, when, with which headers; each answer takes its time on the clock.
import type { Clock } from "../../ports/clock.ts";
import { sleep } from "../../ports/clock.ts";
import type { Answer, Connected, Http, HttpFailure, Unsent } from "../../ports/http.ts";
import type { BodyEnd, FailureReason } from "../../schemas/reasons.ts";

export type Reply =
  | {
      status: number;
      headers?: Record<string, string>;
      body?: string;
      tookMs?: number;
      bodyFails?: "wire-bytes" | "body-reset";
    }
  /** Before a byte left, or after. */
  | { connectFails: FailureReason; detail?: string }
  | { sendFails: FailureReason; tookMs?: number }
  | { unsent: true };

export interface Ask {
  url: string;
  headers: Record<string, string>;
  /** Of this URL, from 0. */
  times: number;
}

/** By URL, or a function of the request; what is not given is a 404. */
export type Site = Record<string, Reply | ((ask: Ask) => Reply)>;

export interface FakeWeb {
  http: Http;
  /** Each request sent. */
  log: { url: string; at: number; answeredAt: number; headers: Record<string, string> }[];
  /** Connections made, and those given back or used. */
  connects: string[];
  ended: number;
  site: Site;
  /** Where every name leads: by default a loopback address, which lets a configured pace below the default hold. */
  address: string;
}

export function fakeWeb(clock: Clock, site: Site): FakeWeb {
  const times = new Map<string, number>();
  const web: FakeWeb = {
    site,
    log: [],
    connects: [],
    ended: 0,
    address: "127.0.0.1",
    http: {
      async connect(url) {
        web.connects.push(url);
        const count = times.get(url) ?? 0;
        times.set(url, count + 1);
        const given = web.site[url] ?? { status: 404 };
        const reply = (headers: Record<string, string>): Reply =>
          typeof given === "function" ? given({ url, headers, times: count }) : given;
        const first = reply({});
        if ("connectFails" in first) return failure(first.connectFails, clock.now(), first.detail);
        return connected(web, clock, url, reply);
      },
      async close() {},
    },
  };
  return web;
}

function connected(web: FakeWeb, clock: Clock, url: string, reply: (headers: Record<string, string>) => Reply): Connected {
  return {
    ok: true,
    address: web.address,
    async send({ headers, sendBy }): Promise<Answer | HttpFailure | Unsent> {
      web.ended++;
      const sentAt = clock.now();
      const given = reply(headers);
      if ("unsent" in given || sentAt > sendBy) return { ok: false, reason: "unsent" };
      const entry = { url, at: sentAt, answeredAt: 0, headers };
      web.log.push(entry);
      if ("connectFails" in given) throw new Error("a connection that failed sends nothing");
      if (given.tookMs !== undefined) await sleep(clock, given.tookMs);
      entry.answeredAt = clock.now();
      if ("sendFails" in given) return { ...failure(given.sendFails, clock.now()), sentAt };
      return answer(clock, given, sentAt, headers);
    },
    release() {
      web.ended++;
    },
  };
}

function answer(
  clock: Clock,
  given: Extract<Reply, { status: number }>,
  sentAt: number,
  requestHeaders: Record<string, string>,
): Answer {
  const bytes = Buffer.from(given.body ?? "");
  const answeredAt = clock.now();
  return {
    ok: true,
    status: given.status,
    statusText: "",
    httpVersion: "1.1",
    headers: Object.entries(given.headers ?? { "content-type": "text/html; charset=utf-8" }),
    requestHeaders: Object.entries(requestHeaders),
    sentAt,
    answeredAt,
    async body({ decodedBytes, keep }) {
      const failed = (reason: BodyEnd) => ({ ok: false as const, reason, detail: "", wireBytes: 1, endedAt: clock.now() });
      if (given.bodyFails !== undefined) return failed(given.bodyFails);
      if (bytes.length <= decodedBytes)
        return { ok: true, bytes: new Uint8Array(bytes), wireBytes: bytes.length, endedAt: clock.now() };
      keep?.(new Uint8Array(bytes.subarray(0, decodedBytes)));
      return failed("decoded-bytes");
    },
    discard() {},
  };
}

function failure(reason: FailureReason, endedAt: number, detail: string = reason): HttpFailure {
  return { ok: false, reason, detail, endedAt };
}
