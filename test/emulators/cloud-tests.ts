// What becomes of the tests that need emulators where there are none? Skipped with the reason at home, failed in CI; nobody else decides it.
import { after, before, describe, test } from "node:test";
import { type Machine, namesOf, thisMachine, type Wanted } from "./locate.ts";
import { type Emulators, prepare, startEmulators } from "./start.ts";

export type Verdict = { kind: "run" } | { kind: "skip" | "fail"; reason: string };

/**
 * Declares the tests of `suite` inside a suite with hooks that start the wanted emulators and stop them. `emulators` may be called
 * in hooks and tests, not while they are declared. Await it at the top of a test file: the first time it may build for minutes.
 */
export async function cloudTests(
  wanted: Wanted,
  suite: (emulators: () => Emulators) => void,
  machine = thisMachine(),
): Promise<void> {
  const name = `on the emulators of ${namesOf(wanted).join(", ")}`;
  const verdict = verdictOn(await whyNot(wanted, machine), process.env.CI);
  if (verdict.kind === "skip") return void test(name, { skip: verdict.reason });
  if (verdict.kind === "fail")
    return void test(name, () => {
      throw new Error(`${verdict.reason}. In CI (the variable CI is set) that is a failure`);
    });
  describe(name, () => {
    let emulators: Emulators | undefined;
    before(async () => {
      emulators = await startEmulators(wanted, { machine });
    });
    after(() => emulators?.stop());
    suite(() => {
      if (emulators === undefined) throw new Error("the emulators run inside hooks and tests only");
      return emulators;
    });
  });
}

/** `ci` is what the variable CI holds; "false", "0" and nothing are none. */
export function verdictOn(missing: string | undefined, ci: string | undefined): Verdict {
  if (missing === undefined) return { kind: "run" };
  return { kind: ["", "0", "false"].includes(ci ?? "") ? "skip" : "fail", reason: missing };
}

/** A Go without network cannot build: that too is a missing emulator. */
async function whyNot(wanted: Wanted, machine: Machine): Promise<string | undefined> {
  try {
    await prepare(wanted, { machine });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
