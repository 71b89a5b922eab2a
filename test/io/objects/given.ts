// What time and chance do the tests of this folder give, and how are small records made?
import { type Capture, captureRecords } from "../../../core/warc/capture.ts";
import { warcinfoRecord } from "../../../core/warc/warcinfo.ts";
import type { ArchiveRecord } from "../../../ports/archive.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Random } from "../../../ports/random.ts";
import { sampleCapture } from "../../core/warc/sample.ts";

/** Numbers in [0, 1) that follow from the seed (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function givenRandom(seed: number): Random {
  const next = numbers(seed);
  const byte = () => Math.floor(next() * 256);
  return { next, token: () => Buffer.from(Array.from({ length: 16 }, byte)).toString("base64url") };
}

export interface GivenClock extends Clock {
  /** Moves on, running what falls due. */
  advance(ms: number): void;
  readonly timers: number;
}

export function givenClock(start = Date.UTC(2024, 1, 29, 12)): GivenClock {
  let now = start;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    advance(ms) {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { run } of due) run();
    },
    get timers() {
      return timers.length;
    },
  };
}

export function warcinfo(filename: string, at: number): Uint8Array[] {
  return warcinfoRecord({ id: "info", at, software: "gleaner", userAgent: "gleaner-test", filename, robots: "obey" });
}

/** An exchange with a body that names itself. */
export function page(
  name: string,
  body: string | Uint8Array = `page ${name}`,
  changes: Partial<Capture> = {},
): ArchiveRecord[] {
  const url = `http://example.com/${name}`;
  return captureRecords(sampleCapture({ id: `${name}-r`, requestId: `${name}-q`, url, body: Buffer.from(body), ...changes }));
}
