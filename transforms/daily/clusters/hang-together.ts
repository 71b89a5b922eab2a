// What hangs together? Rounds of a large and a small star step over the links (core/clusters/stars.ts), and a last look at each hash.
import { keyed } from "../../../beam/coders.ts";
import type { GroupedDefinition } from "../../../beam/dofn.ts";
import { largeStar, smallStar } from "../../../core/clusters/stars.ts";
import { candidate, counts, type Known, known, member } from "./elements.ts";
import { newTally } from "./tally.ts";

const links = { links: keyed(known) };
export type StarStep = GroupedDefinition<Known, typeof links, object, unknown>;

/** Takes each link at both its ends, gives it at its larger one. */
export const largeStarStep: StarStep = {
  form: "grouped",
  name: "LargeStar",
  input: known,
  outputs: links,
  make: () => ({
    async process(hash, neighbours, context) {
      const star = largeStar(hash, (from, to) => context.emit("links", { key: from, value: { kind: "link", hash: to } }));
      for await (const one of neighbours) if (one.kind === "link") star.take(one.hash);
      star.end();
    },
  }),
};

/** Takes each link at its larger end, gives it at both. */
export const smallStarStep: StarStep = {
  form: "grouped",
  name: "SmallStar",
  input: known,
  outputs: links,
  make: () => ({
    async process(hash, neighbours, context) {
      const star = smallStar(hash, (from, to) => {
        context.emit("links", { key: from, value: { kind: "link", hash: to } });
        context.emit("links", { key: to, value: { kind: "link", hash: from } });
      });
      for await (const one of neighbours) if (one.kind === "link") star.take(one.hash);
      star.end();
    },
  }),
};

const outputs = { together: keyed(candidate), alone: keyed(member), counts };

/**
 * Each hash under the smallest one that it hangs on. Where the rounds were enough that is the smallest of all that hang together, on which
 * each of the others hangs by one link; links beyond these are counted. A hash without links is a cluster if it has copies.
 */
export const nameTogether: GroupedDefinition<Known, typeof outputs, object, unknown> = {
  form: "grouped",
  name: "NameTogether",
  input: known,
  outputs,
  make() {
    const tally = newTally();
    return {
      ...tally.lifecycle,
      async process(hash, all, context) {
        const found = await lookAt(hash, all);
        if (found.unsettled > 0) tally.count("unsettledLinks", found.unsettled);
        const { documents } = found;
        if (documents === undefined) return;
        const { copies, document } = documents;
        if (found.isLinked) context.emit("together", { key: found.least, value: { kind: "row", hash, copies, document } });
        else if (copies > 1) {
          const row = { hash, copies, document, representative: document.urlId, distance: 0 };
          context.emit("alone", { key: hash, value: { kind: "row", ...row } });
        }
      },
    };
  },
};

interface Found {
  documents?: Extract<Known, { kind: "documents" }>;
  isLinked: boolean;
  /** The smallest hash that it hangs on, or itself. */
  least: string;
  /** Links to smaller hashes other than the smallest; and one where others hang on a hash that hangs itself. */
  unsettled: number;
}

async function lookAt(hash: string, all: AsyncIterable<Known>): Promise<Found> {
  const found: Found = { isLinked: false, least: hash, unsettled: 0 };
  let [smaller, toLeast, isHungOn] = [0, 0, false];
  for await (const one of all) {
    if (one.kind === "documents") {
      found.documents = one;
      continue;
    }
    found.isLinked = true;
    if (one.hash > hash) isHungOn = true;
    else {
      smaller++;
      if (one.hash < found.least) toLeast = 0;
      if (one.hash <= found.least) {
        found.least = one.hash;
        toLeast++;
      }
    }
  }
  found.unsettled = smaller - toLeast + (isHungOn && smaller > 0 ? 1 : 0);
  return found;
}
