// npm run sim -- --seed N [--fetches N] [--hosts N]: seeded runs, what was done in them, what the checkers say, and their digests.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { type CaseEnd, runCase, type SimCase } from "./case.ts";
import { type FaultName, faultNames, strong } from "./plan.ts";
import { progressOf, serveSwarm, swarm } from "./swarm.ts";

const HELP = `npm run sim -- [--seed N] [--fetches N] [--hosts N] [--fault NAMES] [--runs N] [--workers N] [--no-checkers]

The real crawl in a seeded world: the seed decides the web, the load, the faults and their order.
  --seed N       default 1
  --fetches N    requests to be made at least, default 20000; after four fifths of them there are no more faults
  --hosts N      default one for each 100 requests, from 10 to 200
  --fault NAMES  only these, strong, in place of the seed's own; a comma between them, or none:
                 ${faultNames.join(", ")}
  --runs N       so many seeds from --seed on
  --workers N    so many of them at once, in processes; default 1, at most twice the cores
Ctrl-C ends a run early and tells what was found so far.
Exit codes: 0 no violation, 1 a violation, 2 bad usage, 130 ended by Ctrl-C.
`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    fetches: { type: "string", default: "20000" },
    hosts: { type: "string" },
    runs: { type: "string", default: "1" },
    workers: { type: "string", default: "1" },
    fault: { type: "string" },
    "no-checkers": { type: "boolean", default: false },
    child: { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});

if (values.child) serveSwarm();
else if (values.help) process.stdout.write(HELP);
else {
  const asked = readCases();
  if (asked === undefined) {
    process.stderr.write(`a whole number or a fault's name is malformed\n${HELP}`);
    process.exitCode = 2;
  } else await runAll(asked.cases, asked.workers);
}

/** Undefined where something is malformed. */
function readCases(): { cases: SimCase[]; workers: number } | undefined {
  const { seed, fetches, runs, workers, hosts } = values;
  const numbers = [seed, fetches, runs, workers, hosts ?? "1"].map(Number);
  const names = values.fault === undefined || values.fault === "none" ? [] : values.fault.split(",");
  const known = names.every((name) => faultNames.includes(name as FaultName));
  if (!known || numbers.some((number) => !Number.isSafeInteger(number) || number < 0)) return undefined;
  const [first, requests, count, processes] = numbers as [number, number, number, number, number];
  const cases = Array.from({ length: count }, (_, index) => ({
    seed: first + index,
    fetches: requests,
    hosts: hosts === undefined ? Math.min(200, Math.max(10, Math.round(requests / 100))) : Number(hosts),
    noCheckers: values["no-checkers"],
    ...(values.fault === undefined ? {} : { plan: strong(...(names as FaultName[])) }),
  }));
  return { cases, workers: Math.min(processes, 2 * availableParallelism()) };
}

/** Where npm's shell is bash, one Ctrl-C comes twice; a second one, later, ends all at once. */
const ONE_KEY_MS = 1_000;

async function runAll(cases: readonly SimCase[], workers: number): Promise<void> {
  const { ends, cut } = workers > 1 ? swarm(cases, workers) : inTurn(cases);
  let cutAt: number | undefined;
  process.on("SIGINT", () => {
    process.exitCode = 130;
    if (cutAt !== undefined && performance.now() - cutAt > ONE_KEY_MS) process.exit();
    cutAt ??= performance.now();
    cut();
  });
  const totals = { runs: 0, requests: 0, violations: 0, lost: 0 };
  for (const promise of ends) {
    const end = await promise;
    if (end === undefined) {
      totals.lost++;
      continue;
    }
    totals.runs++;
    totals.requests += end.requests;
    totals.violations += end.violations;
    process.stdout.write(end.told);
  }
  if (cases.length > 1)
    process.stdout.write(`${totals.runs} runs, ${totals.requests} virtual fetches, ${totals.violations} violations\n`);
  if (totals.lost > 0) process.stdout.write(`${totals.lost} runs did not come to an end\n`);
  if (totals.violations > 0 || totals.lost > 0) process.exitCode ??= 1;
}

/** One after another, in this process. */
function inTurn(cases: readonly SimCase[]): { ends: Iterable<Promise<CaseEnd | undefined>>; cut: () => void } {
  let isCut = false;
  function* runs(): Generator<Promise<CaseEnd | undefined>> {
    for (const each of cases)
      yield isCut ? Promise.resolve(undefined) : runCase(each, { isCut: () => isCut, progress: progressOf(each) });
  }
  return {
    ends: runs(),
    cut() {
      isCut = true;
    },
  };
}
