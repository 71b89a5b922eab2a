// npm run sim -- --seed N [--fetches N] [--hosts N]: one seeded run, what was done in it, what the checkers say, and its digest.
import { parseArgs } from "node:util";
import { allCheckers } from "./checkers/all.ts";
import { describe, type FaultName, type FaultPlan, faultNames } from "./plan.ts";
import { type SimResult, simulate } from "./simulate.ts";

const HELP = `npm run sim -- [--seed N] [--fetches N] [--hosts N] [--fault NAME] [--runs N] [--no-checkers]

The real crawl in a seeded world: the seed decides the web, the load, the faults and their order.
  --seed N       default 1
  --fetches N    requests to be made at least, default 100000
  --hosts N      default 200
  --fault NAMES  only these, strong, in place of the seed's own; a comma between them, or none:
                 ${faultNames.join(", ")}
  --runs N       so many seeds from --seed on
Exit codes: 0 no violation, 1 a violation, 2 bad usage.
`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    fetches: { type: "string", default: "100000" },
    hosts: { type: "string", default: "200" },
    runs: { type: "string", default: "1" },
    fault: { type: "string" },
    "no-checkers": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
const numbers = [values.seed, values.fetches, values.hosts, values.runs].map(Number);
const chosen = values.fault === undefined || values.fault === "none" ? [] : values.fault.split(",");
const known = chosen.every((name) => faultNames.includes(name as FaultName));
if (values.help) process.stdout.write(HELP);
else if (!known || numbers.some((number) => !Number.isSafeInteger(number) || number < 0)) {
  process.stderr.write(`a whole number or a fault's name is malformed\n${HELP}`);
  process.exitCode = 2;
} else {
  const [seed, fetches, hosts, runs] = numbers as [number, number, number, number];
  for (let run = 0; run < runs; run++) await runSeed({ seed: seed + run, fetches, hosts });
}

async function runSeed(world: { seed: number; fetches: number; hosts: number }): Promise<void> {
  const startedAt = performance.now();
  const plan = values.fault === undefined ? {} : { plan: only(chosen) };
  const result = await simulate({ ...world, ...plan, checkers: values["no-checkers"] ? () => [] : allCheckers });
  const seconds = (performance.now() - startedAt) / 1000;
  const violations = result.checkers.reduce((sum, checker) => sum + checker.violations.count, 0);
  process.stdout.write(`${told(world.seed, result, seconds)}violations ${violations}\ndigest ${result.digest}\n`);
  if (violations > 0) process.exitCode = 1;
}

function only(faults: readonly string[]): FaultPlan {
  return Object.fromEntries(faultNames.map((name) => [name, faults.includes(name) ? 1 : 0])) as FaultPlan;
}

function told(seed: number, result: SimResult, seconds: number): string {
  const { requests, virtualMs, plan, workers, metrics, checkers } = result;
  const days = (virtualMs / 86_400_000).toFixed(2);
  const lines = [
    `seed ${seed}: ${requests} requests in ${days} virtual days, ${seconds.toFixed(1)} s, ${(requests / seconds).toFixed(0)} a second`,
    `faults: ${describe(plan)}; workers that lived: ${workers}`,
    `outcomes: ${counts(metrics.totalsBy("gleaner_fetches_total", "outcome"))}`,
    ...checkers.flatMap(({ name, figures }) => (figures === undefined ? [] : [`${name}: ${counts(figures())}`])),
    ...checkers.flatMap(({ name, violations }) => violations.words.map((words) => `VIOLATION ${name}: ${words}`)),
  ];
  return `${lines.join("\n")}\n`;
}

function counts(record: Record<string, number>): string {
  return Object.entries(record)
    .map(([name, count]) => `${name} ${Number.isInteger(count) ? count : count.toFixed(3)}`)
    .join(", ");
}
