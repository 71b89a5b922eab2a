// Does the real pipeline keep its promises in a seeded world? The corpus, one strong fault at a time, and in CI the commit's own seed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { allCheckers } from "./checkers/all.ts";
import { corpus } from "./corpus.ts";
import { describe, type FaultPlan, faultNames } from "./plan.ts";
import { type SimOptions, type SimResult, simulate } from "./simulate.ts";

async function held(options: Omit<SimOptions, "checkers">): Promise<SimResult> {
  const result = await simulate({ ...options, checkers: allCheckers });
  const wrong = result.checkers.flatMap(({ name, violations }) => violations.words.map((words) => `${name}: ${words}`));
  assert.deepEqual(
    wrong,
    [],
    `npm run sim -- --seed ${options.seed} --fetches ${options.fetches} --hosts ${options.hosts}; faults: ${describe(result.plan)}`,
  );
  return result;
}

for (const { seed, hosts, fetches, found } of corpus)
  test(`seed ${seed}, which once found: ${found}`, async () => {
    await held({ seed, hosts, fetches });
  });

for (const [index, fault] of faultNames.entries())
  test(`one strong fault: ${fault}`, async () => {
    const plan = Object.fromEntries(faultNames.map((name) => [name, name === fault ? 1 : 0])) as FaultPlan;
    await held({ seed: 100 + index, hosts: 12, fetches: 800, plan });
  });

test("no fault: prompt too, and the same seed gives the same digest twice", async () => {
  const plan = Object.fromEntries(faultNames.map((name) => [name, 0])) as FaultPlan;
  const options = { seed: 42, hosts: 12, fetches: 800, plan };
  assert.equal((await held(options)).digest, (await held(options)).digest);
});

test("the commit's own seed", async (t) => {
  const commit = revision();
  if (commit === undefined) return t.skip("not a git checkout");
  await held({ seed: Number.parseInt(commit.slice(0, 8), 16), hosts: 30, fetches: 3000 });
});

function revision(): string | undefined {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}
