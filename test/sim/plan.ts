// Which faults does this seed have? Swarm: some runs have none, some a single strong one, some many at once.
import { chance } from "./chance.ts";

export const faultNames = [
  "crash", // a worker dies between any two steps, and another starts
  "crash-after-answer", // it dies within the steps that follow an answer
  "zombie", // a second owner of all hosts while the first goes on
  "forgetful-engine", // an engine that loses all Beam state and starts anew
  "store-refuses",
  "store-loses-answers", // it times out after having written
  "store-slow",
  "reports-lost",
  "messages-doubled",
  "messages-late", // and out of order
  "bundles-twice", // they fail at their very end, and run again
  "timers-early",
  "timers-late",
  "timers-twice",
  "clock-skew",
  "parser-stalls",
  "disk-full",
  "bundles-again", // they are committed, and later run again on the state as it is then
  "parser-memory", // it runs out of memory on some pages
] as const;
export type FaultName = (typeof faultNames)[number];

/** How strong each fault is, from 0 (absent) to 1. */
export type FaultPlan = Readonly<Record<FaultName, number>>;

export const NO_FAULTS: FaultPlan = Object.fromEntries(faultNames.map((name) => [name, 0])) as FaultPlan;

/** These, strong, and no others. */
export function strong(...names: FaultName[]): FaultPlan {
  return { ...NO_FAULTS, ...Object.fromEntries(names.map((name) => [name, 1])) };
}

export function planOf(seed: number): FaultPlan {
  const draw = chance(seed, "plan");
  const plan: Record<FaultName, number> = { ...NO_FAULTS };
  const kind = draw.next();
  if (kind < 0.15) return plan;
  if (kind < 0.55) return { ...plan, [draw.pick(faultNames)]: 1 };
  for (const name of faultNames) if (draw.flip(0.35)) plan[name] = 0.2 + 0.6 * draw.next();
  return plan;
}

export function isFaultless(plan: FaultPlan): boolean {
  return faultNames.every((name) => plan[name] === 0);
}

export function describe(plan: FaultPlan): string {
  const present = faultNames.filter((name) => plan[name] > 0).map((name) => `${name} ${plan[name].toFixed(2)}`);
  return present.length === 0 ? "none" : present.join(", ");
}
