// Which documents say the very same? Those of one SimHash become one node, which its best document represents; the others wait to be told.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, GroupedDefinition, Keyed } from "../../../beam/dofn.ts";
import { isComparable } from "../../../core/clusters/membership.ts";
import { represents } from "../../../core/clusters/representative.ts";
import { type ClusterDocument, clusterDocument } from "../../../schemas/daily/clusters.ts";
import { counts, known, told } from "./elements.ts";
import { newTally } from "./tally.ts";

const withText = { documents: keyed(clusterDocument), counts };

/** Leaves out the documents without words, which are alike in nothing but that; in the shuffle they would be one huge key. */
export const leaveOutEmpty: DoFnDefinition<Keyed<ClusterDocument>, typeof withText, object, unknown> = {
  form: "each",
  name: "LeaveOutEmpty",
  input: keyed(clusterDocument),
  outputs: withText,
  make() {
    const tally = newTally();
    return {
      ...tally.lifecycle,
      process(element, context) {
        tally.count("documents");
        if (isComparable(element.key)) context.emit("documents", element);
        else tally.count("withoutText");
      },
    };
  },
};

const outputs = { hashes: keyed(known), others: keyed(told), counts };

/** One document is held at a time, however many there are. */
export const sameHash: GroupedDefinition<ClusterDocument, typeof outputs, object, unknown> = {
  form: "grouped",
  name: "SameHash",
  input: clusterDocument,
  outputs,
  make() {
    const tally = newTally();
    return {
      ...tally.lifecycle,
      async process(hash, documents, context) {
        let best: ClusterDocument | undefined;
        let copies = 0;
        for await (const document of documents) {
          copies++;
          const wins = best === undefined || represents(document, best);
          const loser = wins ? best : document;
          if (wins) best = document;
          if (loser !== undefined) context.emit("others", { key: hash, value: { kind: "row", ...loser } });
        }
        if (best === undefined) return;
        tally.count("hashes");
        context.emit("hashes", { key: hash, value: { kind: "documents", copies, document: best } });
      },
    };
  },
};
