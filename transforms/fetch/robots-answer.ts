// What did a server answer to a request for robots.txt, in the words of core/robots? RFC 9309 2.5 for the body.
import { maxAgeMs } from "../../core/http/max-age.ts";
import { headerOf } from "../../core/http/outcome.ts";
import { retryAfterMs } from "../../core/http/retry-after.ts";
import type { RobotsAnswer } from "../../core/robots/answer.ts";
import type { Answer, Body, BodyFailure } from "../../ports/http.ts";
import { limits } from "../../schemas/limits.ts";

/** A failure with a beginning is a file that was longer than its limit: the beginning counts. */
export type RulesBody = Body | (BodyFailure & { beginning?: Uint8Array });

/** The body of a 2xx: all of it, or of one beyond the limit, or without end, what lies within it. */
export async function readRules(answer: Answer): Promise<RulesBody> {
  let beginning: Uint8Array | undefined;
  const keep = (bytes: Uint8Array) => {
    beginning = bytes;
  };
  const body = await answer.body({ wireBytes: limits.wireBytes, decodedBytes: limits.robotsBytes, keep });
  return body.ok || beginning === undefined ? body : { ...body, beginning };
}

/** `body` is absent where there is none to read. A body that ended by time or by a fault is a failure. */
export function asAnswer(url: string, answer: Answer, body: RulesBody | undefined): RobotsAnswer {
  if (body?.ok === false && body.beginning === undefined) return { kind: "failure", reason: body.reason };
  const optional = {
    ...(body?.ok === false ? { body: body.beginning, cut: true as const } : { body: body?.bytes }),
    location: headerOf(answer.headers, "location"),
    etag: headerOf(answer.headers, "etag"),
    lastModified: headerOf(answer.headers, "last-modified"),
    maxAgeMs: maxAgeMs(headerOf(answer.headers, "cache-control")),
    retryAfterMs: retryAfterMs(headerOf(answer.headers, "retry-after"), answer.answeredAt),
  };
  const present = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  return { kind: "response", url, status: answer.status, ...present };
}
