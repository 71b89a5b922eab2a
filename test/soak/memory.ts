// How much memory does a process hold, with all that it started, and does it stay flat?
import { readdirSync, readFileSync } from "node:fs";

export interface Memory {
  /** Of the samples, bytes. */
  peak: number;
  secondQuarter: number;
  lastQuarter: number;
  /** The mean of the last quarter as a multiple of that of the second; NaN with fewer than four samples. */
  growth: number;
}

/** The first quarter is left out: caches fill, and code is compiled. */
export function memoryOf(samples: readonly number[]): Memory {
  const quarter = Math.floor(samples.length / 4);
  const secondQuarter = mean(samples.slice(quarter, 2 * quarter));
  const lastQuarter = mean(samples.slice(samples.length - quarter));
  return { peak: Math.max(0, ...samples), secondQuarter, lastQuarter, growth: lastQuarter / secondQuarter };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}

const KIB = 1024;

/** Resident bytes of the process and its descendants, threads included; 0 where it has ended. Linux alone has /proc. */
export function residentBytes(process: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = /^PPid:\s*(\d+)$/m.exec(statusOf(name))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  return [...parents.keys()]
    .filter((each) => descendsFrom(each, process, parents))
    .reduce((sum, each) => sum + KIB * Number(/^VmRSS:\s*(\d+) kB$/m.exec(statusOf(String(each)))?.[1] ?? 0), 0);
}

function descendsFrom(process: number, ancestor: number, parents: ReadonlyMap<number, number>): boolean {
  let each: number | undefined = process;
  for (let steps = 0; each !== undefined && steps < 100; steps++) {
    if (each === ancestor) return true;
    each = parents.get(each);
  }
  return false;
}

/** "" for one that ended meanwhile. */
function statusOf(process: string): string {
  try {
    return readFileSync(`/proc/${process}/status`, "utf8");
  } catch {
    return "";
  }
}
