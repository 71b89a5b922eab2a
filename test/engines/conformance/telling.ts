// Has a case come to what is expected? What its DoFns have told, waited for, and compared.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Case, Pipeline } from "./case.ts";

/** A second by itself on most engines; they share two cores with other tests. */
const TELL_MS_MAX = 120_000;
const LOOK_EVERY_MS = 20;
/** What should not be told is told by then, where nothing else delays it. */
const REST_MS = 100;

export interface Telling {
  readonly told: readonly string[];
  readonly pipeline: Pipeline;
}

export function telling(one: Case): Telling {
  const told: string[] = [];
  return { told, pipeline: one.make((line) => void told.push(line)) };
}

/** Waits until all that is expected was told, and fails where anything else was, or `ended` tells before of an end. */
export async function untilTold(
  { name, expected, failsWith }: Case,
  told: readonly string[],
  ended: () => unknown,
): Promise<void> {
  const until = Date.now() + TELL_MS_MAX;
  while (missing(expected, told).length > 0) {
    assert.equal(ended(), undefined, name);
    const late = () => `within ${TELL_MS_MAX / 1000} s was not told: ${some(missing(expected, told))}; but: ${some(told)}`;
    assert.ok(Date.now() < until, late());
    await pause(LOOK_EVERY_MS);
  }
  await pause(REST_MS);
  const seen = failsWith === undefined ? told : [...new Set(told)];
  assert.deepEqual(seen.toSorted(), expected.toSorted());
}

function missing(expected: readonly string[], told: readonly string[]): string[] {
  const left = [...told];
  return expected.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function some(lines: readonly string[]): string {
  return lines.length === 0 ? "nothing" : `${lines.slice(0, 12).join(", ")}${lines.length > 12 ? " …" : ""}`;
}
