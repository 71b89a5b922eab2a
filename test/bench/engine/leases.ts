// Which leases has a case seen, and how late were they? Counted in the process of the workers, where the DoFns run.
import type { AnyDefinition } from "../../../beam/pardo.ts";
import type { PipelineProto } from "../../../beam/sdk.ts";
import type { Figures } from "./cases.ts";

/** What is carried out, and what has been counted. */
export interface Work {
  proto: PipelineProto;
  definitions: readonly AnyDefinition[];
  services: unknown;
  seen: Leases;
}

/** Times are Unix ms. */
export interface Leases {
  /** 0 before the first. */
  first: number;
  last: number;
  /** Of each, ms behind the time that it was meant for. */
  late: number[];
  /** No lease any more from then on. */
  until: number;
}

export function noLeases(): Leases {
  return { first: 0, last: 0, late: [], until: Number.POSITIVE_INFINITY };
}

export function sawLease(seen: Leases, now: number, late: number): void {
  seen.first ||= now;
  seen.last = now;
  seen.late.push(late);
}

export function ratesOf({ first, last, late }: Leases): Pick<Figures, "perSecond" | "lateMs"> {
  const sorted = late.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  const perSecond = (late.length * 1000) / Math.max(1, last - first);
  return { perSecond, lateMs: { half: at(0.5), most: at(0.99) } };
}
