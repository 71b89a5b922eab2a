// Is every answer to a request for robots.txt one event, and which? RFC 9309 2.3.1; what follows from it is acquire's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventOf, hopsOf, type RobotsResponse, robotsRequestHeaders } from "../../../core/robots/answer.ts";
import { limits } from "../../../schemas/limits.ts";
import type { RobotsState } from "../../../schemas/robots-state.ts";

const URL_OF = "https://h.example/robots.txt";
const response = (status: number, more: Partial<RobotsResponse> = {}): RobotsResponse => ({
  kind: "response",
  url: URL_OF,
  status,
  ...more,
});
const body = Buffer.from("User-agent: *");
const known: RobotsState = { status: "rules", fetchedAt: 1, expiresAt: 2, body, etag: '"1"' };
const chain = (hop: number): RobotsState => ({
  status: "redirecting",
  fetchedAt: 1,
  expiresAt: 1,
  target: "https://b.example/",
  hop,
});

test("each kind of answer is its event", () => {
  const rows: [RobotsState | undefined, Parameters<typeof eventOf>[1], string][] = [
    [undefined, response(200, { body }), "rules"],
    [undefined, response(204), "rules"],
    [undefined, response(200), "unreachable"],
    [known, response(304), "not-modified"],
    [undefined, response(304), "unreachable"],
    [chain(1), response(304), "unreachable"],
    [undefined, response(401), "unavailable"],
    [undefined, response(429), "throttled"],
    [undefined, response(503), "unreachable"],
    [undefined, response(307, { location: "/x" }), "redirect"],
    [chain(limits.robotsHops - 1), response(307, { location: "/x" }), "redirect"],
    [chain(limits.robotsHops), response(307, { location: "/x" }), "unreachable"],
    [undefined, { kind: "failure", reason: "dns" }, "unreachable"],
    [undefined, { kind: "put-off", target: URL_OF, hop: 1, until: 9 }, "put-off"],
    [undefined, { kind: "put-off", target: "data:,", hop: 1, until: 9 }, "unreachable"],
  ];
  for (const [before, answer, kind] of rows) assert.equal(eventOf(before, answer).kind, kind, JSON.stringify([before, answer]));
});

test("a redirect is resolved against the URL asked, without password and fragment", () => {
  const targetOf = (location: string) => {
    const event = eventOf(undefined, response(302, { url: "https://b.example/x/robots.txt", location }));
    return event.kind === "redirect" ? event.target : event.kind;
  };
  assert.equal(targetOf("../r#top"), "https://b.example/r");
  assert.equal(targetOf(" https://me:secret@c.example/r "), "https://c.example/r");
});

test("of a body that was cut, or is beyond the limit, whole lines count, whatever ends them (2.5)", () => {
  const kept = (more: Partial<RobotsResponse>) => {
    const event = eventOf(undefined, response(200, more));
    return event.kind === "rules" ? Buffer.from(event.body).toString("latin1") : event.kind;
  };
  const rows: [text: string, cut: true | undefined, kept: string][] = [
    ["User-agent: *\nDisallow: /a\nDisallow: /", true, "User-agent: *\nDisallow: /a\n"],
    ["User-agent: *\rDisallow: /", true, "User-agent: *\r"],
    ["User-agent: *\nDisallow: /a\n", true, "User-agent: *\nDisallow: /a\n"],
    ["Disallow: /", true, ""],
    ["", true, ""],
    ["User-agent: *\nDisallow: /", undefined, "User-agent: *\nDisallow: /"],
  ];
  for (const [text, cut, expected] of rows)
    assert.equal(kept({ body: Buffer.from(text), ...(cut && { cut }) }), expected, JSON.stringify([text, cut]));
  const long = `#${"-".repeat(limits.robotsBytes - 10)}\nDisallow: /`;
  assert.equal(kept({ body: Buffer.from(long) }).length, limits.robotsBytes - 8);
});

test("hops are counted only along a chain", () => {
  assert.deepEqual([undefined, { ...known, hop: 4 }, chain(3)].map(hopsOf), [0, 0, 3]);
});

test("validators go only with a body that came from the very URL", () => {
  assert.deepEqual(robotsRequestHeaders(known), { "if-none-match": '"1"' });
  assert.deepEqual(robotsRequestHeaders({ ...known, target: "https://b.example/" }), {});
  const { body: _, ...bodiless } = known;
  assert.deepEqual(robotsRequestHeaders(bodiless), {});
});
