// Does the real pipeline keep its promises in a seeded world? The corpus, one strong fault at a time, and seeds of the commit's own.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import { type CaseEnd, runCase, type SimCase } from "./case.ts";
import { corpus } from "./corpus.ts";
import { faultNames, strong } from "./plan.ts";
import { swarm } from "./swarm.ts";

/** In CI (GLEANER_SIM=full) some 200,000 virtual fetches, two to three minutes on two cores; else some 30,000. */
const full = process.env.GLEANER_SIM === "full";
/** Seeds that each commit has for itself, beside a larger one. */
const COMMIT_SEEDS = full ? 16 : 1;
const ALONE = full ? { hosts: 40, fetches: 4000 } : { hosts: 15, fetches: 1000 }; // of each fault
const WORKERS = 2;

const commit = revision();
const faultless: SimCase = { seed: 42, hosts: 15, fetches: 1500, plan: strong() };
const large: SimCase[] = commit === undefined || !full ? [] : [{ seed: seedOf(commit), hosts: 200, fetches: 40_000 }];
const named: [name: string, of: SimCase][] = [
  ...large.map((of): [string, SimCase] => [`the commit's own seed, ${of.seed}, at length`, of]),
  ["no fault: prompt too", faultless],
  ...corpus.map(({ found, ...of }): [string, SimCase] => [`seed ${of.seed}, which once found: ${found}`, of]),
  ...faultNames.map((fault, index): [string, SimCase] => [
    `one strong fault: ${fault}`,
    { seed: 100 + index, ...ALONE, plan: strong(fault) },
  ]),
  ...Array.from({ length: commit === undefined ? 0 : COMMIT_SEEDS }, (_, index): [string, SimCase] => {
    const seed = seedOf(commit!) + 1 + index;
    return [`the commit's own seed, ${seed}`, { seed, hosts: 40, fetches: full ? 5000 : 3000 }];
  }),
];

const running = swarm(
  named.map(([, of]) => of),
  WORKERS,
);
after(() => running.cut());

for (const [index, [name, of]] of named.entries())
  test(name, async () => {
    const end = await running.ends[index];
    assert.ok(end !== undefined, "its process died");
    assert.deepEqual(
      end.words,
      [],
      `npm run sim -- --seed ${of.seed} --fetches ${of.fetches} --hosts ${of.hosts}\n${end.told}`,
    );
  });

test("the same seed gives the same digest in two processes", async () => {
  const here = await runCase(faultless);
  const there = await running.ends[named.findIndex(([, of]) => of === faultless)];
  assert.equal(here.digest, there?.digest);
});

test("virtual fetches and violations of all of them", async (t) => {
  const ends = (await Promise.all(running.ends)).filter((end): end is CaseEnd => end !== undefined);
  const requests = ends.reduce((sum, end) => sum + end.requests, 0);
  const violations = ends.reduce((sum, end) => sum + end.violations, 0);
  t.diagnostic(`${requests} virtual fetches in ${ends.length} runs, ${violations} violations`);
  assert.equal(ends.length, named.length);
  if (commit === undefined) t.diagnostic("not a git checkout: no seed of the commit's own was run");
});

/** Undefined where this is no git checkout. */
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

function seedOf(hash: string): number {
  return Number.parseInt(hash.slice(0, 8), 16);
}
