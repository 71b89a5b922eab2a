// Which hashes are near each other? Each goes to one key a table; what stands under a key is compared there, and linked.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, Emitter, GroupedDefinition, Keyed } from "../../../beam/dofn.ts";
import { bandKey, type Halves, halvesOf, hashOf, narrowKeys, TABLES, tableOf } from "../../../core/clusters/bands.ts";
import { addPacked, type HashList, halvesAt, nearGroups, newHashList } from "../../../core/clusters/near-groups.ts";
import { type Banded, banded, counts, type Known, known } from "./elements.ts";
import { newPacks } from "./packs.ts";
import { newTally } from "./tally.ts";

const bands = { banded: keyed(banded) };

/** Each hash under ten keys. Those of a bundle that have a key in common travel together: one by one they would be most of all elements. */
export const toBands: DoFnDefinition<Keyed<Known>, typeof bands, { keyBits: number }, unknown> = {
  form: "each",
  name: "ToBands",
  input: keyed(known),
  outputs: bands,
  make({ keyBits }) {
    const packs = newPacks();
    const giveTo = (context: Emitter<typeof bands>) => (key: string, value: Banded) => context.emit("banded", { key, value });
    return {
      startBundle: packs.clear,
      process({ key }, context) {
        const hash = halvesOf(key);
        for (let table = 0; table < TABLES; table++) packs.add(bandKey(hash, table, keyBits), hash, giveTo(context));
      },
      finishBundle: (context) => packs.give(giveTo(context)),
    };
  },
};

/** Hashes that are compared at once, some 84 MB with what the comparing takes; as many as can stand under a narrower key. */
const COMPARED_MAX = 2 ** 21;

const links = { links: keyed(known), crowded: keyed(banded), counts };

/** `comparedMax`: hashes of one key that are compared at once; where there are more, all of them are given on under narrower keys. */
export function linkBands(comparedMax = COMPARED_MAX): GroupedDefinition<Banded, typeof links, object, unknown> {
  return {
    form: "grouped",
    name: "LinkBands",
    input: banded,
    outputs: links,
    make() {
      const tally = newTally();
      return {
        ...tally.lifecycle,
        async process(key, some, context) {
          const table = tableOf(key);
          const list = newHashList();
          let isCrowded = false;
          for await (const { hashes } of some) {
            addPacked(list, hashes);
            if (!isCrowded && list.size <= comparedMax) continue;
            if (!isCrowded) tally.count("crowdedKeys");
            isCrowded = true;
            narrow(list, table, context);
          }
          linkNear(list, table, context);
        },
      };
    },
  };
}

const narrowLinks = { links: keyed(known) };

/** Under a narrower key stand no more hashes than are compared at once. */
export const linkNarrow: GroupedDefinition<Banded, typeof narrowLinks, object, unknown> = {
  form: "grouped",
  name: "LinkNarrow",
  input: banded,
  outputs: narrowLinks,
  make: () => ({
    async process(_key, some, context) {
      const list = newHashList();
      for await (const { hashes } of some) addPacked(list, hashes);
      linkNear(list, undefined, context);
    },
  }),
};

/** Gives all of the list away. */
function narrow(list: HashList, table: number, context: Emitter<{ crowded: typeof links.crowded }>): void {
  const packs = newPacks();
  const give = (key: string, value: Banded) => context.emit("crowded", { key, value });
  for (let place = 0; place < list.size; place++) {
    const hash: Halves = halvesAt(list, place);
    for (const key of narrowKeys(hash, table)) packs.add(key, hash, give);
  }
  packs.give(give);
  list.size = 0;
}

/** Each hash of a group with its smallest, told to both ends. */
function linkNear(list: HashList, table: number | undefined, context: Emitter<typeof narrowLinks>): void {
  if (list.size < 2) return;
  for (const [place, least] of nearGroups(list, table).entries()) {
    if (place === least) continue;
    const [larger, smaller] = [hashOf(halvesAt(list, place)), hashOf(halvesAt(list, least))];
    context.emit("links", { key: larger, value: { kind: "link", hash: smaller } });
    context.emit("links", { key: smaller, value: { kind: "link", hash: larger } });
  }
}
