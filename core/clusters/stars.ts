// Which nodes hang together? Alternating stars (Kiveris et al., "Connected Components in MapReduce and Beyond", 2014), one node at a time.

/** Says that two nodes hang together; `to` is the smaller. */
export type Link = (from: string, to: string) => void;

/** The step of one node: `take` each of its neighbours in any order, then `end` once. */
export interface Star {
  take(neighbour: string): void;
  end(): void;
}

/** Rounds of a large and a small step, one after the other. */
export const STAR_ROUNDS = 8;

/**
 * Neighbours of one node that are held at a time, 10 MB. Beyond it links go to the smallest node that was seen so far: nothing is lost, but
 * what hangs on this node may go on to do so, though it hangs on another one itself.
 */
const HELD_MAX = 2 ** 18;

/** Hangs the larger of all neighbours of `node` on the smallest of them and the node. Links of its smaller neighbours are theirs to hang. */
export function largeStar(node: string, link: Link, heldMax = HELD_MAX): Star {
  let least = node;
  const held: string[] = [];
  const hang = () => {
    for (const larger of held.splice(0)) link(larger, least);
  };
  return {
    take(neighbour) {
      if (neighbour < least) least = neighbour;
      if (neighbour > node && held.push(neighbour) > heldMax) hang();
    },
    end: hang,
  };
}

/** Hangs `node` and its smaller neighbours, which alone it is given, on the smallest of them. */
export function smallStar(node: string, link: Link, heldMax = HELD_MAX): Star {
  let least = node;
  const held = new Set<string>([node]);
  const hang = () => {
    held.delete(least);
    for (const larger of held) link(larger, least);
    held.clear();
    held.add(least); // hangs on a smaller one that may still come
  };
  return {
    take(neighbour) {
      if (neighbour < least) least = neighbour;
      held.add(neighbour);
      if (held.size > heldMax) hang();
    },
    end: hang,
  };
}
