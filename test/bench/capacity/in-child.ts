// How is one measurement kept from the next? In a process of its own, with a heap large enough and a collector that can be called.
import { spawn } from "node:child_process";
import { join } from "node:path";

const HEAP_MB = 12_000; // 10^6 hosts with their records in memory take about 4 GB

/** Runs `npm run bench -- capacity ARGS` in a child and gives the JSON that it prints last. Rejects where it fails. */
export async function inChild<T>(args: readonly string[]): Promise<T> {
  const flags = ["--expose-gc", `--max-old-space-size=${HEAP_MB}`];
  const child = spawn(process.execPath, [...flags, join(import.meta.dirname, "../run.ts"), "capacity", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  const code = await new Promise<number>((resolve) => child.on("close", (exit) => resolve(exit ?? 1)));
  if (code !== 0) throw new Error(`capacity ${args.join(" ")} ended with exit code ${code}`);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as T;
}
