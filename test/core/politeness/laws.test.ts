// What no sequence of events at one host can break: the gap, the places, and both after a restart from nothing but the record.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { admit } from "../../../core/politeness/admit.ts";
import { gapMs } from "../../../core/politeness/host-clock.ts";
import type { PacePolicy } from "../../../core/politeness/policy.ts";
import { connectFailed, type RequestEnd, release } from "../../../core/politeness/release.ts";
import { decode, encode } from "../../../schemas/codec.ts";
import { type Flight, type HostState, hostState } from "../../../schemas/host-state.ts";
import { host, lease, NOW, policy, request } from "./given.ts";

type Step =
  | { kind: "admit"; url: number }
  /** Of the request that has been under way for longest; `late`: how long after its admit it was sent and answered. */
  | { kind: "release"; status: number; sentAfterMs: number; answeredAfterMs: number; retryAfterMs: number | undefined }
  | { kind: "fail" | "unsent" | "crash" | "connect-failed" | "restart" };

const waits = fc.oneof(fc.nat(400), fc.nat(3_000), fc.constantFrom(16_000, 40_000));
const steps: fc.Arbitrary<{ afterMs: number; step: Step }[]> = fc.array(
  fc.record({
    afterMs: waits,
    step: fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant("admit" as const), url: fc.nat(5) }) },
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant("release" as const),
          status: fc.constantFrom(200, 200, 301, 404, 429, 503),
          sentAfterMs: fc.nat(250),
          answeredAfterMs: fc.nat(2_000),
          retryAfterMs: fc.option(fc.nat(5_000), { nil: undefined }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constantFrom("fail", "unsent", "crash", "connect-failed", "restart") }),
      },
    ),
  }),
  { maxLength: 40 },
);

interface Run {
  record: HostState;
  now: number;
  /** Requests whose executions still live. */
  live: Flight[];
  /** Everything booked that was not undone, by the test's own books: its answer, and its sending. */
  booked: { flight: Flight; answeredAt: number; sentAt: number }[];
  admitted: number;
}

function follow(given: { afterMs: number; step: Step }[], pace: PacePolicy, crawlDelayMs: number): Run {
  const run: Run = { record: host({ crawlDelayMs }), now: NOW, live: [], booked: [], admitted: 0 };
  for (const [index, { afterMs, step }] of given.entries()) {
    run.now += afterMs;
    take(run, step, pace, `token-${index}`);
  }
  return run;
}

function take(run: Run, step: Step, pace: PacePolicy, token: string): void {
  if (step.kind === "restart") {
    run.record = decode(hostState, encode(hostState, run.record));
    run.live = [];
  } else if (step.kind === "connect-failed") run.record = connectFailed(run.record, "connect", run.now, 0.5);
  else if (step.kind === "crash") run.live.shift();
  else if (step.kind === "admit") begin(run, step.url, pace, token);
  else finish(run, step, pace);
}

function begin(run: Run, url: number, pace: PacePolicy, token: string): void {
  const asks = request({ token, lease: lease({ leaseId: token, urlId: `url-${url}`, version: run.admitted }) });
  const admission = admit(run.record, asks, pace, run.now);
  if (admission.kind !== "admitted") return;
  judge(run, admission.flight, pace);
  run.admitted++;
  run.record = admission.host;
  run.live.push(admission.flight);
  const { expiresAt, sendBy } = admission.flight;
  run.booked.push({ flight: admission.flight, answeredAt: expiresAt, sentAt: sendBy });
}

function finish(
  run: Run,
  step: Extract<Step, { kind: "release" | "fail" | "unsent" | "crash" | "connect-failed" | "restart" }>,
  pace: PacePolicy,
) {
  const flight = run.live.shift();
  if (flight === undefined) return;
  const end = endOf(step, flight, run.now);
  const after = release(run.record, pace, flight.token, end, 0.5);
  if (after === run.record) return; // it expired, and an admit has taken it out
  run.record = after;
  const book = run.booked.find((entry) => entry.flight === flight)!;
  if (end.kind === "unsent") run.booked.splice(run.booked.indexOf(book), 1);
  else {
    book.sentAt = end.sentAt;
    book.answeredAt = end.kind === "failed" ? end.endedAt : end.answeredAt;
  }
}

function endOf(step: Step, flight: Flight, now: number): RequestEnd {
  if (step.kind === "unsent") return { kind: "unsent" };
  if (step.kind !== "release") return { kind: "failed", reason: "timeout", sentAt: Math.min(now, flight.sendBy), endedAt: now };
  const sentAt = Math.min(now, flight.sendBy, flight.admittedAt + step.sentAfterMs);
  const answeredAt = Math.min(now, sentAt + step.answeredAfterMs);
  const { status, retryAfterMs } = step;
  const told = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { kind: "answered", status, sentAt, answeredAt, endedAt: now, bodyBytes: 1, ...told };
}

/** The earliest possible sending is the admit itself. */
function judge(run: Run, flight: Flight, pace: PacePolicy): void {
  const gap = gapMs(run.record, pace);
  const running = run.booked.filter((entry) => entry.answeredAt > flight.admittedAt);
  assert.ok(running.length < pace.concurrency, `${running.length + 1} at once`);
  for (const earlier of run.booked) {
    const from = pace.concurrency === 1 ? earlier.answeredAt : earlier.sentAt;
    assert.ok(flight.admittedAt >= from + gap, `admitted ${flight.admittedAt - from} ms after, ${gap} ms are owed`);
  }
}

test("one at a time: no request can leave before the last answer and the gap, whoever crashes, repeats or restarts (P1, P5)", () => {
  let admitted = 0;
  fc.assert(
    fc.property(steps, fc.constantFrom(0, 3_000), (given, crawlDelayMs) => {
      admitted += follow(given, policy(), crawlDelayMs).admitted;
    }),
    { numRuns: 400 },
  );
  assert.ok(admitted > 400, "the law was tried on something");
});

for (const concurrency of [2, 3])
  test(`${concurrency} at a time: never more unexpired entries, starts spaced by the gap`, () => {
    let most = 0;
    fc.assert(
      fc.property(steps, (given) => {
        const { record } = follow(given, policy({ concurrency, delayMs: 300 }), 0);
        most = Math.max(most, record.inFlight.length);
        assert.ok(record.inFlight.length <= concurrency);
      }),
      { numRuns: 400 },
    );
    assert.equal(most, concurrency, "the places are used");
  });

test("whatever happens, the record stays one that can be written", () => {
  fc.assert(
    fc.property(steps, (given) => {
      const { record } = follow(given, policy({ concurrency: 2 }), 500);
      assert.equal(hostState.fault(record, ""), undefined);
      assert.deepEqual(decode(hostState, encode(hostState, record)), record);
      assert.ok(record.recent.length <= 8);
    }),
    { numRuns: 200 },
  );
});
