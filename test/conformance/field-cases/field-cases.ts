// How is a field case told? By its id, what must hold of all its kind, and a check that throws where it does not.
import { type TestContext, test } from "node:test";
import { conformance } from "../lib.ts";

export interface FieldCase {
  /** Of the list of field cases. */
  id: string;
  /** What must hold of all its kind. */
  holds: string;
  check(t: TestContext): void | Promise<void>;
}

/** Declares a test for each, and a subject that sums them up; they need no data but their own. */
export function fieldCases(name: string, cases: readonly FieldCase[]): void {
  const outcomes = new Map<string, string>();
  for (const { id, holds, check } of cases)
    test(`${id}: ${holds}`, async (t) => {
      outcomes.set(id, "failed");
      await check(t);
      outcomes.set(id, "holds");
    });
  conformance({
    name,
    files: [],
    cases: cases.length,
    judge(_data, tell) {
      for (const { id } of cases) tell(id, outcomes.get(id), "holds");
    },
  });
}
