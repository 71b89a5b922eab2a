// What does the launcher's container do? One command of ours, and beside it, for a job of Dataflow, Beam's job service for as long as it runs.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { extname, join } from "node:path";
import { unanswered } from "../../beam/portable/unanswered.ts";
import { type Clock, sleep } from "../../ports/clock.ts";
import { stopOnSignals } from "../commands/stop-signals.ts";
import { exitCodes } from "../exit-codes.ts";

export interface LauncherOptions {
  /** The command's name and its flags. */
  args: readonly string[];
  /** The job service's program and arguments, to which its port is added. */
  jobService: readonly string[];
  clock: Clock;
  /** A line for people. */
  say(line: string): void;
}

/** What a schedule starts; a crawl is launched by hand. */
const COMMANDS = ["daily", "compact", "set-up"] as const;
const PORT = 8099;
const ENDPOINT = `127.0.0.1:${PORT}`;
/** It imports a thousand modules. */
const ANSWER_MS_MAX = 180_000;
const ASK_EVERY_MS = 500;

/** The command's exit code. SIGTERM and SIGINT go to the command, which ends cleanly. */
export async function runLauncher({ args, jobService, clock, say }: LauncherOptions): Promise<number> {
  const [name, ...flags] = args;
  if (!COMMANDS.some((each) => each === name)) {
    say(`launcher: the first argument is none of ${COMMANDS.join(", ")}: ${JSON.stringify(name ?? "")}`);
    return exitCodes.badUsage;
  }
  const service = needsJobService(flags) ? startService(jobService) : undefined;
  try {
    if (service !== undefined) await untilAnswered(service, clock);
    const endpoint = service === undefined ? [] : ["--endpoint", ENDPOINT];
    return await runCommand(name!, [...flags, ...endpoint], clock);
  } catch (error) {
    say(`launcher: ${(error as Error).message}`);
    return exitCodes.fault;
  } finally {
    service?.kill();
  }
}

function needsJobService(flags: readonly string[]): boolean {
  const isDataflow = flags.includes("--engine=dataflow") || flags[flags.indexOf("--engine") + 1] === "dataflow";
  return isDataflow && !flags.some((flag) => flag === "--endpoint" || flag.startsWith("--endpoint="));
}

function startService([program, ...args]: readonly string[]): ChildProcess {
  const service = spawn(program!, [...args, "--port", String(PORT)], { stdio: ["ignore", "ignore", "inherit"] });
  service.on("error", () => {}); // that it does not run shows while it is asked
  return service;
}

/** Rejects where it ends, or does not answer in time. */
async function untilAnswered(service: ChildProcess, clock: Clock): Promise<void> {
  const until = clock.now() + ANSWER_MS_MAX;
  while (service.exitCode === null && service.signalCode === null && service.pid !== undefined && clock.now() < until) {
    if ((await unanswered({ endpoint: ENDPOINT, clock })) === undefined) return;
    await sleep(clock, ASK_EVERY_MS);
  }
  throw new Error(`Beam's job service has not answered at port ${PORT}: ${service.spawnargs.join(" ")}`);
}

async function runCommand(name: string, flags: readonly string[], clock: Clock): Promise<number> {
  // Beside this file, of the same kind: sources, or emitted JavaScript.
  const script = join(import.meta.dirname, "../commands", `${name}${extname(import.meta.filename)}`);
  const command = spawn(process.execPath, [script, ...flags], { stdio: "inherit" });
  const signals = stopOnSignals({ now: () => clock.now(), stop: () => void command.kill("SIGTERM") });
  const [code] = (await once(command, "close")) as [number | null];
  signals.end();
  return code ?? exitCodes.fault;
}
