// What did the throw-away prototype need for the same leases? Its own bench, run beside ours where the machine has it; nothing of it is ours.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type EngineCase, type Figures, type Load, runnerOptions } from "./cases.ts";
import { lastJson } from "./children.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** Of what its bench prints, that which we read. */
interface Printed {
  leases: number;
  leasesPerSec: number;
  reqPerLease: number;
  /** Seconds. */
  nodeCpu: number;
  lateMs: { p50: number; p99: number };
}

/** Undefined where it is not on this machine. */
export function prototypeFolder(): string | undefined {
  const folder = join(ROOT, "../shared/engine/prototype");
  return existsSync(join(folder, "bench.ts")) ? folder : undefined;
}

/** In its best form: keys side by side, a cache where the runner gives tokens. */
export async function prototypeFigures(
  folder: string,
  { hosts, delayMs, seconds, runner, endpoint }: Load & Pick<EngineCase, "runner" | "endpoint">,
  signal: AbortSignal,
): Promise<Figures> {
  const env = {
    MAIN: "./bench.ts", // started by dbg.ts, which mends how the SDK offers artifacts
    ...{
      MODE: "timer",
      CONCURRENT: "1",
      STATE_CACHE: "1",
      HOSTS: `${hosts}`,
      DELAY: `${delayMs}`,
      SECONDS: `${seconds + ROUND_SECONDS}`,
    },
    ...{ JOB_ENDPOINT: endpoint, OPTS: JSON.stringify(runnerOptions(runner)), WAIT: `${(seconds + WAIT_SECONDS) * 1000}` },
    // It has no packages of its own.
    NODE_PATH: join(ROOT, "node_modules"),
  };
  const printed = await lastJson<Printed>({ args: [join(folder, "dbg.ts")], env }, signal);
  if (printed.leases === 0) throw new Error("it gave no lease in its time");
  const { leases, leasesPerSec: perSecond, reqPerLease: requestsPerLease, nodeCpu, lateMs } = printed;
  return {
    ...{ leases, perSecond, requestsPerLease, cpuMicros: (nodeCpu * 1e6) / leases },
    lateMs: { half: lateMs.p50, most: lateMs.p99 },
  };
}

/** Its seconds begin with its first element, ours after a round of all hosts. */
const ROUND_SECONDS = 5;
/** For its job to begin and to end; a JVM on a busy machine takes a minute. */
const WAIT_SECONDS = 60;
