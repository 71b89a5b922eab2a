// Who leads whom among those whom the best of all does not reach? One after another in the order of rank, each takes all within its reach.
import { REACH_BITS } from "./membership.ts";
import { type HashList, withinBits } from "./near-groups.ts";

/** `list`: in the order of rank, the best first. For each place that of its leader, which is its own where it leads; n × leaders steps. */
export function leadersOf(list: HashList): Int32Array {
  const { high, low, size } = list;
  const leaders = new Int32Array(size).fill(NOBODY);
  for (let place = 0; place < size; place++) {
    if (leaders[place] !== NOBODY) continue;
    for (let other = place; other < size; other++) {
      if (leaders[other] !== NOBODY) continue;
      if (withinBits(high[place]! ^ high[other]!, low[place]! ^ low[other]!, REACH_BITS)) leaders[other] = place;
    }
  }
  return leaders;
}

const NOBODY = -1;

/** How often a crowd is parted at most: then no two hashes are together any more. */
export const CROWD_LEVELS = 8;

const LEVEL_DIGITS = 16 / CROWD_LEVELS;

/** The part of a crowd that a hash belongs to at a level, 1 and up: near hashes are mostly in one part, since most of their digits are alike. */
export function partOfCrowd(hash: string, level: number): string {
  return hash.slice(0, level * LEVEL_DIGITS);
}
