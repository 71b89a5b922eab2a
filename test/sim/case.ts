// How does one seeded run end? Its figures and words, for people and for whoever counts.
import { allCheckers } from "./checkers/all.ts";
import { describe, type FaultPlan } from "./plan.ts";
import type { SimProgress } from "./run-parts.ts";
import { type SimResult, simulate } from "./simulate.ts";

export interface SimCase {
  seed: number;
  hosts: number;
  fetches: number;
  /** Instead of the seed's own faults. */
  plan?: FaultPlan;
  noCheckers?: boolean;
}

export interface CaseEnd {
  requests: number;
  violations: number;
  /** The first of them in words. */
  words: string[];
  digest: string;
  /** All that is to be told of it, in lines. */
  told: string;
  /** It was ended before its end. */
  cut: boolean;
}

/** `isCut` is asked every few virtual seconds; `progress` is told of them. */
export async function runCase(
  { noCheckers, ...of }: SimCase,
  { isCut, progress }: { isCut?: () => boolean; progress?: (now: SimProgress) => void } = {},
): Promise<CaseEnd> {
  const startedAt = process.cpuUsage();
  const result = await simulate({
    ...of,
    checkers: noCheckers ? () => [] : allCheckers,
    look(now) {
      progress?.(now);
      return isCut?.() ? "end" : undefined;
    },
  });
  const { user, system } = process.cpuUsage(startedAt);
  const words = result.checkers.flatMap(({ name, violations }) => violations.words.map((each) => `${name}: ${each}`));
  const violations = result.checkers.reduce((sum, checker) => sum + checker.violations.count, 0);
  return {
    requests: result.requests,
    violations,
    words,
    digest: result.digest,
    told: `${told(of.seed, result, (user + system) / 1e6)}${words.map((each) => `VIOLATION ${each}\n`).join("")}violations ${violations}\ndigest ${result.digest}\n`,
    cut: result.cut,
  };
}

function told(
  seed: number,
  { requests, virtualMs, plan, workers, metrics, checkers, cut }: SimResult,
  seconds: number,
): string {
  const rate = `${seconds.toFixed(1)} s of work, ${(requests / seconds).toFixed(0)} a second`;
  const lines = [
    `seed ${seed}: ${requests} requests in ${duration(virtualMs)}, ${rate}${cut ? "; cut short, its end was not judged" : ""}`,
    `faults: ${describe(plan)}; workers that lived: ${workers}`,
    `outcomes: ${counts(metrics.totalsBy("gleaner_fetches_total", "outcome"))}`,
    ...checkers.flatMap(({ name, figures }) => (figures === undefined ? [] : [`${name}: ${counts(figures())}`])),
  ];
  return `${lines.join("\n")}\n`;
}

/** Of virtual time. */
export function duration(ms: number): string {
  return ms < 86_400_000 ? `${(ms / 60_000).toFixed(1)} virtual minutes` : `${(ms / 86_400_000).toFixed(2)} virtual days`;
}

function counts(record: Record<string, number>): string {
  return Object.entries(record)
    .map(([name, count]) => `${name} ${Number.isInteger(count) ? count : count.toFixed(3)}`)
    .join(", ");
}
