// How do many hashes travel as few elements? Those of one key wait for each other, to the end of the bundle or until all together are many.
import type { Halves } from "../../../core/clusters/bands.ts";
import { addHash, type HashList, newHashList, packed } from "../../../core/clusters/near-groups.ts";
import type { Banded } from "./elements.ts";

type Give = (key: string, value: Banded) => void;

export interface Packs {
  /** May give what waits. */
  add(key: string, hash: Halves, give: Give): void;
  /** All that waits. */
  give(give: Give): void;
  clear(): void;
}

/** Hashes that wait, of all keys together: some 4 MB where each has a key of its own. */
const WAITING_MAX = 65_536;

export function newPacks(waitingMax = WAITING_MAX): Packs {
  const lists = new Map<string, HashList>();
  let waiting = 0;
  const clear = () => {
    lists.clear();
    waiting = 0;
  };
  const giveAll = (give: Give) => {
    for (const [key, list] of lists) give(key, { hashes: packed(list) });
    clear();
  };
  return {
    add(key, hash, give) {
      let list = lists.get(key);
      if (list === undefined) {
        list = newHashList();
        lists.set(key, list);
      }
      addHash(list, hash);
      if (++waiting >= waitingMax) giveAll(give);
    },
    give: giveAll,
    clear,
  };
}
