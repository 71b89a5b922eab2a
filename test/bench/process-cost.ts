// What did a command cost? CPU time and peak memory of a child and all its threads, from /proc and the child's own resource usage.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";

export interface Cost {
  code: number;
  seconds: number;
  /** User and system, of the process with all its threads. */
  cpuMs: number;
  peakMb: number;
  stdout: string;
}

const SAMPLE_MS = 50;
const TICK_MS = 10; // of /proc/PID/stat: sysconf(_SC_CLK_TCK) is 100 on Linux

/** Runs a node script to its end. */
export async function costOf(script: string, args: readonly string[]): Promise<Cost> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr = (stderr + chunk).slice(-2_000);
  });
  let cpuMs = 0;
  let peakMb = 0;
  const sampler = setInterval(async () => {
    const sample = await sampleOf(child.pid!).catch(() => undefined);
    if (sample === undefined) return;
    cpuMs = Math.max(cpuMs, sample.cpuMs);
    peakMb = Math.max(peakMb, sample.peakMb);
  }, SAMPLE_MS);
  const code = await new Promise<number>((resolve) => child.on("close", (exit) => resolve(exit ?? 1)));
  clearInterval(sampler);
  if (code !== 0) process.stderr.write(stderr);
  return { code, seconds: (performance.now() - startedAt) / 1000, cpuMs, peakMb, stdout };
}

async function sampleOf(pid: number): Promise<{ cpuMs: number; peakMb: number }> {
  const [stat, status] = await Promise.all([readFile(`/proc/${pid}/stat`, "utf8"), readFile(`/proc/${pid}/status`, "utf8")]);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]); // utime and stime, proc_pid_stat(5)
  return { cpuMs: ticks * TICK_MS, peakMb: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 };
}
