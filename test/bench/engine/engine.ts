// What does a lease cost on a real runner? Leases a second, state requests and CPU of the harness, beside the throw-away prototype's and with a slow state.
import { parseArgs } from "node:util";
import { systemClock } from "../../../io/clock.ts";
import { stopOnSignals } from "../../../pipelines/commands/stop-signals.ts";
import { exitCodes } from "../../../pipelines/exit-codes.ts";
import { prepared } from "../../engines/engine-tests.ts";
import { startFlink } from "../../engines/flink.ts";
import type { JobServer } from "../../engines/job-server.ts";
import { startPrism } from "../../engines/prism.ts";
import { printTable, say } from "../capacity/given.ts";
import { caseArgs, type EngineCase, type Figures, type Load, RUNNERS, type Runner, STATE_DELAY_MS } from "./cases.ts";
import { childFigures } from "./children.ts";
import { prototypeFigures, prototypeFolder } from "./prototype.ts";
import { measureCase } from "./worker.ts";

const HELP = `npm run bench -- engine [prism] [flink] [options]

Leases a second through real runners, no fetching: hosts with a timer each, without and with slow state, beside the prototype where
it is at hand, and HostFrontier over tables in memory. Two cases run at a time, so that what else the machine does is the same for both.
Both by default; each runner takes some two minutes, four at most, and is built or fetched once.

  --hosts N      5000
  --delay MS     500, between two leases of a host: with 5000 hosts 10,000 leases a second are asked for
  --seconds N    10, of leases in each case
  --help
The prototype's requests count those of first visits, ours do not. Read the ratios: the rates are those of a machine that the runner shares.
`;

const STARTED = { prism: startPrism, flink: startFlink } as const;
/** Of a runner's start, its job's start and end around the seconds of leases. */
const CASE_MS_AROUND = 110_000;
const RUNNER_MS_MAX = 4 * 60_000;

/** Undefined where a case has failed, or the prototype is not on this machine. */
interface Measured {
  ours: Figures | undefined;
  slow: Figures | undefined;
  prototype: Figures | undefined;
  frontier: Figures | undefined;
}

const CASES = {
  ours: "hosts with a timer",
  slow: `the same, state answers ${STATE_DELAY_MS} ms later`,
  prototype: "the same hosts, the prototype",
  frontier: "HostFrontier, each lease reported back",
} as const;

/** Given its job service, and the signal at which it is over. */
type AtRunner = (endpoint: string, signal: AbortSignal) => Promise<Figures>;

export async function benchEngine(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    ...{ args, allowPositionals: true },
    options: {
      hosts: { type: "string", default: "5000" },
      delay: { type: "string", default: "500" },
      seconds: { type: "string", default: "10" },
      help: { type: "boolean", default: false },
      case: { type: "string" },
    },
  });
  if (values.case !== undefined) return measureCase(JSON.parse(values.case) as EngineCase);
  const load = { hosts: Number(values.hosts), delayMs: Number(values.delay), seconds: Number(values.seconds) };
  const asked = positionals.length === 0 ? RUNNERS : positionals;
  const runners = RUNNERS.filter((runner) => asked.includes(runner));
  if (values.help) return say(HELP);
  if (runners.length < asked.length || !Object.values(load).every((value) => Number.isInteger(value) && value > 0)) {
    process.stderr.write(HELP);
    process.exitCode = exitCodes.badUsage;
    return;
  }
  const stopping = new AbortController();
  const clock = systemClock();
  const signals = stopOnSignals({ now: () => clock.now(), stop: () => stopping.abort(new Error("stopped")) });
  try {
    for (const runner of runners) await measureRunner(runner, load, stopping.signal);
  } catch (error) {
    if (!signals.stopped()) throw error;
    process.exitCode = exitCodes.interrupted;
  } finally {
    signals.end();
  }
}

async function measureRunner(runner: Runner, load: Load, stopped: AbortSignal): Promise<void> {
  const missing = await prepared(runner, progress);
  if (missing !== undefined) return say(`${runner}: skipped, ${missing}`);
  const until = AbortSignal.any([
    stopped,
    timeLimit(`${runner} has taken its ${RUNNER_MS_MAX / 60_000} minutes`, RUNNER_MS_MAX),
  ]);
  const measure = async (what: string, run: AtRunner): Promise<Figures | undefined> => {
    progress(`${runner}: ${what}, ${load.seconds} s`);
    try {
      return await atRunner(runner, { load, until }, run);
    } catch (error) {
      if (stopped.aborted) throw error;
      progress(`${runner}: ${what} failed: ${error}`);
      return undefined;
    }
  };
  const ofChild =
    (given: Pick<EngineCase, "work" | "stateDelayMs">): AtRunner =>
    (endpoint, signal) =>
      childFigures(caseArgs({ ...load, ...given, runner, endpoint }), signal);
  const folder = prototypeFolder();
  const ofPrototype =
    (at: string): AtRunner =>
    (endpoint, signal) =>
      prototypeFigures(at, { ...load, runner, endpoint }, signal);

  // Two at a time: what else the machine does then is the same for both, and all is over in time.
  const [ours, slow] = await Promise.all([
    measure(CASES.ours, ofChild({ work: "timers", stateDelayMs: 0 })),
    measure(CASES.slow, ofChild({ work: "timers", stateDelayMs: STATE_DELAY_MS })),
  ]);
  const [prototype, frontier] = await Promise.all([
    folder === undefined ? undefined : measure(CASES.prototype, ofPrototype(folder)),
    measure(CASES.frontier, ofChild({ work: "frontier", stateDelayMs: 0 })),
  ]);
  if (folder === undefined) say(`${runner}: the prototype is skipped, ../shared/engine/prototype is not on this machine`);
  print(runner, load, { ours, slow, prototype, frontier });
}

/** A runner of its own for each case: Flink's goes on with a job that was cancelled. */
async function atRunner(runner: Runner, { load, until }: { load: Load; until: AbortSignal }, run: AtRunner): Promise<Figures> {
  until.throwIfAborted();
  const server: JobServer = await STARTED[runner]({ logLevel: "error" });
  try {
    until.throwIfAborted();
    const late = timeLimit(
      `a case has not ended in ${CASE_MS_AROUND / 1000} s beside its own`,
      load.seconds * 1000 + CASE_MS_AROUND,
    );
    return await run(server.endpoint, AbortSignal.any([until, late]));
  } finally {
    await server.stop();
  }
}

function print(runner: Runner, { hosts, delayMs, seconds }: Load, measured: Measured): void {
  const asked = Math.round((hosts * 1000) / delayMs);
  say(
    `\n${runner}: ${hosts} hosts, a lease each ${delayMs} ms (${asked} a second asked for), ${seconds} s a case, two at a time`,
  );
  const heads = ["", "leases/s", "state requests/lease", "CPU us/lease", "late ms, half", "99 %"];
  const lines = Object.entries(CASES).map(([name, what]) => [what, ...cellsOf(measured[name as keyof Measured])]);
  printTable(heads, lines);
  const { ours, slow, prototype } = measured;
  const requests = ours?.requestsPerLease.toFixed(2) ?? NOTHING;
  say(`state requests a lease, once each host has had one: ${requests} (aim: at most ${runner === "flink" ? 2 : 3})`);
  say(`CPU a lease, the prototype's = 1: ${ratio(ours?.cpuMicros, prototype?.cpuMicros)} (aim: at most 0.70)`);
  say(`leases a second with slow state, without = 1: ${ratio(slow?.perSecond, ours?.perSecond)} (aim: at least 0.80)`);
}

const NOTHING = "-";

function cellsOf(figures: Figures | undefined): string[] {
  if (figures === undefined) return [NOTHING, NOTHING, NOTHING, NOTHING, NOTHING];
  const { perSecond, requestsPerLease, cpuMicros, lateMs } = figures;
  const whole = [cpuMicros, lateMs.half, lateMs.most].map((value) => `${Math.round(value)}`);
  return [`${Math.round(perSecond)}`, requestsPerLease.toFixed(2), ...whole];
}

/** As a signal whose reason says what was too long. */
function timeLimit(why: string, afterMs: number): AbortSignal {
  const limit = new AbortController();
  setTimeout(() => limit.abort(new Error(why)), afterMs).unref();
  return limit.signal;
}

function ratio(one: number | undefined, other: number | undefined): string {
  return one === undefined || other === undefined ? NOTHING : (one / other).toFixed(2);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
