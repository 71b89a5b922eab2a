// Seeds that once failed, run for ever, each with what it found and the faults that it had then.
import { type FaultPlan, NO_FAULTS } from "./plan.ts";

export interface KeptSeed {
  seed: number;
  hosts: number;
  fetches: number;
  /** Kept too, as a seed's own faults change with the list of faults. */
  plan: FaultPlan;
  found: string;
}

const given = (faults: Partial<FaultPlan>): FaultPlan => ({ ...NO_FAULTS, ...faults });

export const corpus: readonly KeptSeed[] = [
  {
    seed: 3,
    hosts: 60,
    fetches: 3000,
    plan: given({ "clock-skew": 1 }),
    found: "with skewed clocks a lease was judged again at once, for ever",
  },
  {
    seed: 6,
    hosts: 40,
    fetches: 2000,
    plan: given({ crash: 0.41, "bundles-twice": 0.73, "timers-twice": 0.49, "parser-stalls": 0.78, "disk-full": 0.25 }),
    found: "a full disk poisoned whatever was tried in its minute, the seed among it",
  },
  {
    seed: 7,
    hosts: 50,
    fetches: 3000,
    plan: given({
      zombie: 0.61,
      "store-slow": 0.6,
      "messages-doubled": 0.4,
      "bundles-twice": 0.61,
      "timers-late": 0.79,
      "clock-skew": 0.43,
      "disk-full": 0.48,
    }),
    found: "a superseded job hid hosts from the sweep of the one that owned them",
  },
  {
    seed: 105,
    hosts: 15,
    fetches: 1000,
    plan: given({ "store-loses-answers": 1 }),
    found: "a store that failed at the rules of a robots.txt answered with 429 took its Retry-After along",
  },
  {
    seed: 200,
    hosts: 40,
    fetches: 3000,
    plan: given({
      crash: 0.42,
      zombie: 0.5,
      "store-refuses": 0.53,
      "store-loses-answers": 0.51,
      "reports-lost": 0.71,
      "messages-doubled": 0.74,
      "messages-late": 0.79,
      "timers-early": 0.78,
      "timers-twice": 0.46,
      "parser-stalls": 0.26,
    }),
    found: "what a bundle that failed had counted was lost, and patterns had several times their URLs",
  },
];
