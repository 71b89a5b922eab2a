// What becomes of the tests that need a runner where there is none? Skipped with the reason at home, failed in CI, as with the emulators.
import { suite, test } from "node:test";
import { verdictOn } from "../emulators/cloud-tests.ts";
import { prepareDataflow } from "./dataflow.ts";
import { prepareFlink } from "./flink.ts";
import { preparePrism } from "./prism.ts";

const PREPARED = { prism: preparePrism, flink: prepareFlink, dataflow: prepareDataflow } as const;
export type EngineName = keyof typeof PREPARED;
export const engineNames = Object.keys(PREPARED) as EngineName[];

/** Declares the tests, which start the runners themselves. Await it at the top of a test file: the first time it may take minutes. */
export async function engineTests(wanted: readonly EngineName[], declare: () => void): Promise<void> {
  const name = `on ${wanted.join(", ")}`;
  const verdict = verdictOn(await whyNot(wanted), process.env.CI);
  if (verdict.kind === "run") return void suite(name, declare);
  if (verdict.kind === "skip") return void test(name, { skip: verdict.reason });
  test(name, () => {
    throw new Error(`${verdict.reason}. In CI (the variable CI is set) that is a failure`);
  });
}

/** Why the runner cannot be had; undefined where it can. `tell` is given lines of progress. */
export async function prepared(name: EngineName, tell?: (line: string) => void): Promise<string | undefined> {
  try {
    await PREPARED[name](tell);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function whyNot(wanted: readonly EngineName[]): Promise<string | undefined> {
  // One after another: each takes all cores.
  for (const name of wanted) {
    const why = await prepared(name);
    if (why !== undefined) return why;
  }
  return undefined;
}
