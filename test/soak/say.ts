// What does the soak say while it runs, and at its end?
import type { Judgement } from "./judge.ts";
import { memoryOf } from "./memory.ts";
import { GROWTH_MAX, lateRequests, SAMPLES_MIN, type SoakResult } from "./verdict.ts";

const MIB = 1024 * 1024;

export function progress(seconds: number, { requests, pages, hosts, violations }: Judgement, resident: number): string {
  return [
    `soak: ${Math.round(seconds)} s`,
    `${requests} requests`,
    `${pages} pages`,
    `${hosts} hosts`,
    `${mib(resident)} resident`,
    `${violations} violations`,
  ].join("  ");
}

/** Two columns in Markdown, so that the table can be kept as it is. */
export function table(result: SoakResult, seconds: number): string {
  const { judgement, crawl, end } = result;
  const { report } = end;
  const rows: [what: string, figure: string][] = [
    ["time", `${(seconds / 60).toFixed(1)} min`],
    ["requests that the web saw", whole(judgement.requests)],
    ["pages answered with 200", whole(judgement.pages)],
    ["hosts asked", whole(judgement.hosts)],
    ["URLs found", whole(report?.discovered ?? 0)],
    ...judgement.classes.map(({ owedMs, requests, smallestGapMs }): [string, string] => [
      `smallest gap where ${whole(owedMs)} ms are owed`,
      `${milliseconds(smallestGapMs)} of ${whole(requests)} requests`,
    ]),
    ["smallest rest beyond a Retry-After", `${milliseconds(judgement.smallestRestMs)} of ${judgement.rests}`],
    ["violations of politeness", whole(judgement.violations)],
    ...memoryRows(crawl.samples),
    ["lines of alarm on stderr", whole(crawl.alarmsCount)],
    ["exit code", String(end.code ?? "a signal")],
    ["requests by kind of host", counts(Object.fromEntries(judgement.kinds))],
    ["of these in the last quarter", counts(Object.fromEntries(lateRequests(result)))],
    ["outcomes", counts(report?.outcomes ?? {})],
    ["why requests failed or bodies were not kept", counts(report?.reasons ?? {})],
    ["URLs refused, by reason", counts(report?.refusals ?? {})],
  ];
  const width = Math.max(...rows.map(([what]) => what.length));
  const lines = rows.map(([what, figure]) => `| ${what.padEnd(width)} | ${figure} |`);
  return [`| ${"what".padEnd(width)} | figure |`, `| ${"-".repeat(width)} | ------ |`, ...lines].join("\n");
}

function memoryRows(samples: readonly number[]): [string, string][] {
  const { peak, secondQuarter, lastQuarter, growth } = memoryOf(samples);
  const judged = samples.length >= SAMPLES_MIN ? `${GROWTH_MAX} at most` : "too short to be judged";
  return [
    ...(Number.isNaN(growth)
      ? []
      : ([
          ["memory, second quarter", mib(secondQuarter)],
          ["memory, last quarter", `${mib(lastQuarter)}, ${growth.toFixed(2)} times that, ${judged}`],
        ] satisfies [string, string][])),
    ["memory, peak", `${mib(peak)} of ${samples.length} samples`],
  ];
}

function counts(record: Record<string, number>): string {
  const some = Object.entries(record).filter(([, count]) => count > 0);
  const sorted = some.sort(([, one], [, other]) => other - one);
  return sorted.map(([name, count]) => `${name} ${whole(count)}`).join(", ") || "none";
}

function milliseconds(ms: number): string {
  return Number.isFinite(ms) ? `${ms.toFixed(1)} ms` : "none";
}

function mib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}

function whole(count: number): string {
  return count.toLocaleString("en");
}
