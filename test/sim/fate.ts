// When does a worker die, and when does a second one begin beside it? As the plan and the seed have it.
import type { Chance } from "./chance.ts";
import type { Cluster } from "./cluster.ts";
import type { Weather } from "./faults.ts";

const DEATHS = 0.08; // of the looks, with a fault of strength 1: about one in 25 virtual seconds
const CALLS_MAX = 40; // port calls that a lease makes after its answer, and some

/** Deaths, zombies and lost engines, as the plan has them. */
export function strike(cluster: Cluster, { plan, draw }: Weather, fate: Chance): void {
  const [oldest] = cluster.living;
  if (oldest !== undefined && fate.flip(plan.crash * DEATHS)) oldest.life.callsLeft = draw.whole(1, CALLS_MAX);
  if (oldest !== undefined && fate.flip(plan["forgetful-engine"] * DEATHS)) cluster.kill(oldest);
  if (plan.zombie > 0 && fate.flip(plan.zombie * DEATHS * 2)) {
    if (cluster.living.length < 2) cluster.start();
    else cluster.kill(cluster.living[fate.whole(0, 1)]!);
  }
  cluster.tend();
}

const DEATHS_AFTER_ANSWER = 0.002; // of the answers

export function maybeDieSoon({ plan, draw, stormy }: Weather, life: { callsLeft?: number }): void {
  const share = plan["crash-after-answer"] * DEATHS_AFTER_ANSWER;
  if (share > 0 && stormy() && life.callsLeft === undefined && draw.flip(share)) life.callsLeft = draw.whole(1, CALLS_MAX);
}
