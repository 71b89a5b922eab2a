// Does a test notice when this is taken away? Applies one break to a copy of the tree and runs the tests that must fail then.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Break {
  /** What is taken away, in the words of the design. */
  name: string;
  file: string;
  /** Stands exactly once in the file. */
  find: string;
  replace: string;
  /** A test file that must fail, and has to pass without the break. */
  test: string;
  /** Runs only the tests of the file whose names match. */
  only?: string;
}

const root = join(import.meta.dirname, "../..");
const FOLDERS = ["schemas", "core", "ports", "transforms", "io", "beam", "pipelines", "tools", "demo", "test", "package.json"];
const RUN_MS_MAX = 120_000; // one test file, broken: it may wait for what never comes

/** A copy of the sources whose tests can be run; `remove` takes it away. */
export function copyOfTree(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-break-"));
  for (const name of FOLDERS) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Throws where the text to be replaced does not stand there exactly once: a break that no longer applies proves nothing. */
export function patched(source: string, { name, file, find, replace }: Break): string {
  const found = source.split(find).length - 1;
  if (found !== 1) throw new Error(`the break '${name}' no longer applies: its text stands ${found} times in ${file}`);
  return source.replace(find, () => replace);
}

export type Verdict = "noticed" | "unnoticed" | "not even loaded";

/** Runs the break's test in the copy, with the break, and takes the break out again. */
export async function verdictOn(each: Break, folder: string): Promise<Verdict> {
  const path = join(folder, each.file);
  const whole = readFileSync(path, "utf8");
  writeFileSync(path, patched(whole, each));
  try {
    const output = await runTest(each, folder);
    const failed = Number(/^# fail (\d+)$/m.exec(output)?.[1] ?? 0) + Number(/^# cancelled (\d+)$/m.exec(output)?.[1] ?? 0);
    if (/SyntaxError|ERR_MODULE_NOT_FOUND/.test(output)) return "not even loaded";
    return failed > 0 ? "noticed" : "unnoticed";
  } finally {
    writeFileSync(path, whole);
  }
}

function runTest({ test, only }: Break, folder: string): Promise<string> {
  const pattern = only === undefined ? [] : [`--test-name-pattern=${only}`];
  const args = ["--test", "--test-reporter=tap", "--test-force-exit", `--test-timeout=${RUN_MS_MAX}`, ...pattern, test];
  // Without this variable the child believes it is a part of the run that started it, and reports nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  return new Promise((resolve) => child.on("close", () => resolve(output)));
}
