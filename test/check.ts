// Is everything in order? Runs every check of the project, one after another, and sums up; fails if one of them did.
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";

interface Step {
  name: string;
  command: readonly string[];
  /** Why the step need not run. */
  unless?: string | undefined;
}

const ROOT = join(import.meta.dirname, "..");

// Left to itself, `biome ci` colours what goes to a file as well.
const colors = process.stdout.isTTY ? [] : ["--colors=off"];

const steps: readonly Step[] = [
  { name: "format and lint", command: ["biome", "ci", "--error-on-warnings", ...colors, "."] },
  { name: "types", command: ["tsc", "--noEmit"] },
  { name: "unused code", command: ["knip", "--no-progress"] },
  { name: "imports and tidiness", command: ["node", "test/run.ts", "test/tidy"] },
  { name: "tests", command: ["node", "test/run.ts"], unless: testsPassedAlready() },
];

const results = steps.map((step) => {
  if (step.unless !== undefined) return `-     ${step.name}: ${step.unless}`;
  console.log(`\n== ${step.name}: ${step.command.join(" ")}`);
  const startedAt = performance.now();
  const passed = run(step.command);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (!passed) process.exitCode = 1;
  return `${passed ? "ok  " : "FAIL"}  ${step.name} (${seconds} s)`;
});
console.log(`\n${results.join("\n")}`);

function run([name, ...given]: readonly string[]): boolean {
  const path = `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env.PATH}`;
  const { status, error } = spawnSync(name!, given, { cwd: ROOT, stdio: "inherit", env: { ...process.env, PATH: path } });
  if (error !== undefined) console.error(String(error));
  return status === 0;
}

/** .ci/run names the commit whose tests it has just seen pass; that holds as long as the tree is still exactly that commit. */
function testsPassedAlready(): string | undefined {
  const commit = process.env.GLEANER_TESTS_PASSED;
  if (commit === undefined || commit === "" || git("rev-parse", "HEAD") !== commit || git("status", "--porcelain") !== "")
    return undefined;
  return `passed already on this very tree (${commit.slice(0, 12)}, by GLEANER_TESTS_PASSED)`;
}

function git(...given: string[]): string {
  return spawnSync("git", given, { cwd: ROOT, encoding: "utf8" }).stdout?.trim() ?? "";
}
