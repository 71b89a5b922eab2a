// npm run breaks:sim [-- WORD]: does the simulator find each break, and after how many seeds?
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyOfTree, patched } from "./apply.ts";
import { SEEDS_MAX, type SimBreak, simBreaks } from "./sim-list.ts";

const [word = ""] = process.argv.slice(2);
const RUN_MS_MAX = 10 * 60_000; // one seed; a run that goes round in circles is to find that out by itself
const SIZE = ["--fetches", "3000", "--hosts", "30"];

const chosen = simBreaks.filter(({ name }) => name.includes(word));
const copy = copyOfTree();
let missed = 0;
try {
  for (const each of chosen) {
    const startedAt = performance.now();
    const found = await find(each, copy.folder).catch((error: Error) => error.message);
    if (typeof found !== "object") missed++;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    const verdict = typeof found === "object" ? `found by seed ${found.seed}` : (found ?? `NOT FOUND in ${SEEDS_MAX} seeds`);
    process.stdout.write(
      `${verdict.padEnd(22)} ${each.name} (${each.faults ?? "own faults"}, ${seconds} s)${typeof found === "object" ? `: ${found.words}` : ""}\n`,
    );
  }
} finally {
  copy.remove();
}
process.stdout.write(`${chosen.length - missed} of ${chosen.length} breaks are found by the simulator\n`);
process.exitCode = missed === 0 && chosen.length > 0 ? 0 : 1;

async function find(each: SimBreak, folder: string): Promise<{ seed: number; words: string } | undefined> {
  const path = join(folder, each.file);
  const whole = readFileSync(path, "utf8");
  writeFileSync(path, patched(whole, { ...each, test: "" }));
  try {
    for (let seed = 1; seed <= SEEDS_MAX; seed++) {
      const output = await runSim(folder, [
        "--seed",
        String(seed),
        ...SIZE,
        ...(each.faults === undefined ? [] : ["--fault", each.faults]),
      ]);
      const words = /^VIOLATION (.*)$/m.exec(output)?.[1] ?? /^(?:Error|AssertionError).*$/m.exec(output)?.[0];
      if (words !== undefined) return { seed, words: words.slice(0, 140) };
    }
    return undefined;
  } finally {
    writeFileSync(path, whole);
  }
}

function runSim(folder: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [join(folder, "test/sim/run.ts"), ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: RUN_MS_MAX,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) =>
    child.on("close", (_code, signal) => {
      if (signal !== null)
        process.stderr.write(`a run of ${RUN_MS_MAX / 1000} s was ended by ${signal}, and has found nothing\n`);
      resolve(signal === null ? output : "");
    }),
  );
}
