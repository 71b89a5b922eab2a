// Where does the time go? Samples of a CPU profile by the group of the nearest file of ours up the stack.

import type { Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";

export interface Shares {
  /** Share of the busy samples by group, largest first. */
  groups: [group: string, share: number][];
  share(group: string): number;
}

/** What a frame belongs to; undefined: to whoever called it. */
export type GroupOf = (frame: { url: string; functionName: string }) => string | undefined;

/** `outermost` is asked from the root on and wins over `groupOf`, so that what the bench itself does counts as one. */
export async function profiled(work: () => Promise<void>, groupOf: GroupOf, outermost: GroupOf): Promise<Shares> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 500 });
  await session.post("Profiler.start");
  await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  return sharesOf(profile, groupOf, outermost);
}

const IDLE = new Set(["(idle)", "(root)"]);

function sharesOf(profile: Profiler.Profile, groupOf: GroupOf, outermost: GroupOf): Shares {
  const groups = new Map<number, string>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const walk = (id: number, inherited: string, fixed: boolean): void => {
    const { callFrame, children = [] } = nodes.get(id)!;
    const outer = fixed ? undefined : outermost(callFrame);
    const own = special(callFrame.functionName) ?? groupOf(callFrame) ?? inherited;
    const group = fixed ? inherited : (outer ?? own);
    groups.set(id, group);
    for (const child of children) walk(child, group, fixed || outer !== undefined);
  };
  walk(profile.nodes[0]!.id, "promises and event loop", false);

  const counts = new Map<string, number>();
  let busy = 0;
  for (const sample of profile.samples ?? []) {
    if (IDLE.has(nodes.get(sample)!.callFrame.functionName)) continue;
    busy++;
    const group = groups.get(sample)!;
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const share = (group: string): number => (counts.get(group) ?? 0) / Math.max(1, busy);
  return {
    share,
    groups: [...counts.keys()].map((group): [string, number] => [group, share(group)]).sort((a, b) => b[1] - a[1]),
  };
}

function special(functionName: string): string | undefined {
  if (functionName === "(garbage collector)") return "garbage collector";
  return functionName === "(program)" ? "runtime" : undefined;
}
