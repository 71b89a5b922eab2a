// How are the steps of a deployment carried out? One after another, each shown first; the first that fails ends it and says how to go on.
import { spawnSync } from "node:child_process";
import { exitCodes } from "../exit-codes.ts";
import { UsageError } from "../usage-error.ts";
import { type Deployment, deploySteps, programs, type Step, shown } from "./steps.ts";

export interface DeployRun {
  deployment: Deployment;
  dryRun: boolean;
  /** The name of the first step; those before it are done. */
  from: string | undefined;
  /** Whether to go on, where a person is to be asked. */
  confirm(question: string): Promise<boolean>;
  say(line: string): void;
}

/** The exit code. Throws UsageError where a program is missing or a step is not known. */
export async function runDeploy(run: DeployRun): Promise<number> {
  const { deployment, dryRun, say } = run;
  if (!dryRun) mustHave(["terraform", "gcloud", deployment.engine]);
  const names = stepsOf(run).map(({ name }) => name);
  const first = run.from === undefined ? 0 : names.indexOf(run.from);
  if (first < 0) throw new UsageError(`--from ${JSON.stringify(run.from)} is none of ${names.join(", ")}`);
  const question = `${names.length - first} steps in project ${deployment.project}, environment ${deployment.env}`;
  say(dryRun ? `${question}; nothing is done` : question);
  if (!dryRun && !(await run.confirm(`${question}: go on?`))) return exitCodes.interrupted;
  for (let at = first; at < names.length; at++) {
    // What a step before it has made is known only now.
    const step = stepsOf(run)[at]!;
    say(`\n${at + 1} ${step.name}: ${step.changes}\n  ${shown(step.command)}`);
    if (!dryRun && !succeeds(step)) {
      say(`deploy: the step ${step.name} failed; what was done before it stands. Once mended, go on with --from ${step.name}`);
      return exitCodes.fault;
    }
  }
  return exitCodes.done;
}

function stepsOf({ deployment, dryRun }: DeployRun): Step[] {
  const chdir = `-chdir=terraform/environments/${deployment.env}`;
  return deploySteps(deployment, (name) => {
    const later = `$(terraform ${chdir} output -raw ${name})`;
    if (dryRun) return later;
    const { status, stdout } = spawnSync("terraform", [chdir, "output", "-raw", name], { encoding: "utf8" });
    return status === 0 ? stdout.trim() : later;
  });
}

function succeeds({ command: [program, ...args] }: Step): boolean {
  return spawnSync(program!, args, { stdio: "inherit" }).status === 0;
}

function mustHave(names: readonly string[]): void {
  const missing = names.filter((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).error !== undefined);
  if (missing.length > 0)
    throw new UsageError(missing.map((name) => `${name} is missing: ${programs[name] ?? "install it"}`).join("; "));
}
